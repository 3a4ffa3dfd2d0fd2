import { describe, expect, it } from 'vitest';
import { priorityValue } from '../../src/config/column-value.js';
import { loadSettings } from '../../src/config/load-settings.js';
import { showValue } from '../../src/config/show-config.js';

describe('--priority', () => {
  it.each([
    ['revenue', { name: 'revenue', direction: 'desc' }],
    ['revenue:desc', { name: 'revenue', direction: 'desc' }],
    ['revenue:asc', { name: 'revenue', direction: 'asc' }],
    ['price:eur', { name: 'price:eur', direction: 'desc' }],
    ['price:eur:asc', { name: 'price:eur', direction: 'asc' }],
    ['3:asc', { name: '3', direction: 'asc' }],
  ])('%j is %j', (text, value) => {
    expect(priorityValue.parse([text])).toEqual({ ok: true, value });
  });

  it.each([
    ['', undefined],
    [' :asc', undefined],
    ['revenue:DESC', 'revenue:desc'],
    ['revenue:des', 'revenue:desc'],
  ])('%j is refused', (text, nearest) => {
    expect(priorityValue.parse([text])).toMatchObject({ ok: false, refusal: { nearest } });
  });

  it.each(['run', 'plan'] as const)(
    'is taken by %s from the environment, and shown as it was written',
    (command) => {
      const { settings } = loadSettings({
        flags: {},
        env: {
          BRAND_API_URL: 'https://api.example.com',
          BRAND_API_TOKEN: 'sesame-open',
          BRAND_ENRICH_PRIORITY: 'revenue:asc',
        },
        file: null,
        command,
        home: '/home/ada',
      });
      expect(showValue(settings, 'priority')).toBe('revenue:asc');
    },
  );
});
