import { describe, expect, it } from 'vitest';
import { CharFinder, detectLineMode, LineFinder, lineEndAt } from '../../../src/input/json/line-finder.js';

describe('line ends', () => {
  it.each([
    ['a\nb\n', 'lf'],
    ['a\r\nb\r\n', 'lf'],
    ['a\rb\r', 'cr'],
    ['no end', 'lf'],
    ['a\r', 'cr'],
    ['a,"x\ny\nz\nw"\rb\rc', 'cr'],
    ['a\rb\nc\nd\n', 'lf'],
    ['"a\rb\rc\r', 'cr'],
    ['"a\rb\rc\nd\r', 'cr'],
  ] as const)('of %j are %s', (text, mode) => {
    expect(detectLineMode(text, true)).toBe(mode);
  });

  it('inside quotes are counted where quotes mean nothing', () => {
    expect(detectLineMode('"\n\n\n"\r', true)).toBe('lf');
    expect(detectLineMode('"\n"\rx\ry\rz', true)).toBe('cr');
    expect(detectLineMode('"\n\n\n\n"\rx\ry\rz', false)).toBe('lf');
  });

  it('are recognised at an index', () => {
    expect([0, 2, 4].map((at) => lineEndAt('\r\n\n.\rx', at))).toEqual(['\r\n', '\n', '\r']);
    expect(lineEndAt('x', 0)).toBe(null);
  });
});

describe('line finders', () => {
  it('find the same lines backwards as forwards', () => {
    const finder = new CharFinder('a"bb"c', '"');
    expect([0, 2, 5, 0, 1, 4, 2].map((from) => finder.next(from))).toEqual([1, 4, Infinity, 1, 1, 4, 4]);
  });

  it('wait for what follows a CR at the end of a window', () => {
    expect(new LineFinder('a\r', 'cr', false).next(0)).toBe(Number.POSITIVE_INFINITY);
    expect(new LineFinder('a\r', 'cr', true).next(0)).toBe(1);
  });

  it('count CRLF once, up to the requested number', () => {
    const finder = new LineFinder('a\r\nb\rc\nd', 'cr', true);
    expect(finder.count(0, 9)).toBe(3);
    expect(finder.count(0, 9, 2)).toBe(2);
    expect(finder.count(3, 5)).toBe(1);
  });
});
