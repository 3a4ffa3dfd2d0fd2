import { describe, expect, it } from 'vitest';
import { priorityValueOf } from '../../../src/run/scan/priorities.js';

describe('a cell of the priority column', () => {
  it.each([
    ['1200', 1_200],
    [' 42 ', 42],
    ['-3.5', -3.5],
    ['+7', 7],
    ['.5', 0.5],
    ['3.', 3],
    ['1e6', 1_000_000],
    ['007', 7],
    ['0', 0],
  ])('%j is the number %j', (cell, number) => {
    expect(priorityValueOf(cell)).toEqual({ type: 'number', number });
  });

  it.each([
    ['Gold', 'gold'],
    [' tier 1 ', 'tier 1'],
    ['n/a', 'n/a'],
    ['-', '-'],
    ['2026-01-31', '2026-01-31'],
    ['2026-01-31T10:00:00Z', '2026-01-31t10:00:00z'],
    ['2026-01', '2026-01'],
    ['Q1', 'q1'],
    ['Größe', 'größe'],
    ['NaN', 'nan'],
    ['Infinity', 'infinity'],
  ])('%j is the word %j', (cell, word) => {
    expect(priorityValueOf(cell)).toEqual({ type: 'word', word });
  });

  it.each(['', ' ', '\t'])('%j says nothing', (cell) => {
    expect(priorityValueOf(cell)).toEqual({ type: 'none' });
  });

  it.each([
    '1,200',
    '1.200,50',
    '1 200',
    '1_000',
    '$900',
    '€ 1200',
    'EUR 900',
    'USD900',
    '(500)',
    '50%',
    '11-50',
    '10k',
    '31.12.2026',
    '12/31/2026',
    '0x10',
    '1e999',
    '--5',
  ])('%j would need a guess', (cell) => {
    expect(priorityValueOf(cell)).toEqual({ type: 'unclear' });
  });
});
