/** Breadth-first search through all that can happen, for the shortest path to a broken promise. */

export interface Step<State> {
  /** What happened, for the counterexample. */
  readonly what: string;
  readonly state: State;
  /** The promise that this step broke, or null. */
  readonly broken: string | null;
}

export interface Explored {
  readonly states: number;
  /** The shortest path to a broken promise, or null. */
  readonly counterexample: { readonly broken: string; readonly story: readonly string[] } | null;
}

export function explore<State>(
  start: State,
  keyOf: (state: State) => string,
  stepsFrom: (state: State) => readonly Step<State>[],
  atMost: number,
): Explored {
  const seen = new Set([keyOf(start)]);
  /** How each state was reached first: by which step, from which state. */
  const reached: { readonly what: string; readonly from: number }[] = [{ what: '', from: -1 }];
  let frontier: { readonly state: State; readonly at: number }[] = [{ state: start, at: 0 }];

  function storyOf(at: number): string[] {
    const story: string[] = [];
    for (let step = reached[at]; step && step.from >= 0; step = reached[step.from]) story.push(step.what);
    return story.reverse();
  }

  while (frontier.length > 0) {
    const next: typeof frontier = [];
    for (const { state, at } of frontier) {
      for (const step of stepsFrom(state)) {
        if (step.broken !== null) {
          const story = [...storyOf(at), step.what];
          return { states: seen.size, counterexample: { broken: step.broken, story } };
        }
        const key = keyOf(step.state);
        if (seen.has(key)) continue;
        seen.add(key);
        if (seen.size > atMost) throw new Error(`more than ${atMost} states: the model is too large`);
        reached.push({ what: step.what, from: at });
        next.push({ state: step.state, at: reached.length - 1 });
      }
    }
    frontier = next;
  }
  return { states: seen.size, counterexample: null };
}
