/**
 * The steps of the ledger as SQL functions: each takes an account and gives it back changed. They are a port of
 * `test/model/ledger-model.ts`, step by step; `exchange-function.ts` puts them in order.
 */
import { RULES } from '../../ledger/rules.js';
import { ACCOUNT_COLUMNS } from './ledger-tables.js';

const names = ACCOUNT_COLUMNS;

export const LEDGER_PARTS = `
CREATE OR REPLACE FUNCTION brand_enrich.now_ms(p_offset bigint) RETURNS bigint LANGUAGE sql VOLATILE AS $$
  SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint + p_offset
$$;

-- The account, made when it is not there, locked until the transaction ends.
CREATE OR REPLACE FUNCTION brand_enrich.lock_account(p_name text) RETURNS brand_enrich.account LANGUAGE plpgsql AS $$
DECLARE a brand_enrich.account;
BEGIN
  SELECT * INTO a FROM brand_enrich.account WHERE name = p_name FOR UPDATE;
  IF NOT FOUND THEN
    INSERT INTO brand_enrich.account (name, epoch) VALUES (p_name, gen_random_uuid()::text) ON CONFLICT DO NOTHING;
    SELECT * INTO a FROM brand_enrich.account WHERE name = p_name FOR UPDATE;
  END IF;
  RETURN a;
END $$;

CREATE OR REPLACE FUNCTION brand_enrich.save_account(a brand_enrich.account) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE brand_enrich.account SET (${names.join(', ')}) = ROW(${names.map((name) => `a.${name}`).join(', ')})
   WHERE name = a.name;
END $$;

-- Moves the windows of a minute and of a second on.
CREATE OR REPLACE FUNCTION brand_enrich.turn(INOUT a brand_enrich.account, p_now bigint) LANGUAGE plpgsql AS $$
DECLARE
  v_minute bigint := p_now / 60000;
  v_second bigint := p_now / 1000;
BEGIN
  IF v_minute <> a.minute THEN
    a.minute_before := CASE WHEN v_minute = a.minute + 1 THEN a.minute_sent ELSE 0 END;
    a.minute_sent := 0;
    a.minute := v_minute;
  END IF;
  IF v_second <> a.second THEN
    a.second_before := CASE WHEN v_second = a.second + 1 THEN a.second_sent ELSE 0 END;
    a.second_sent := 0;
    a.second := v_second;
  END IF;
END $$;

-- When a period begins, by its name.
CREATE OR REPLACE FUNCTION brand_enrich.start_of(p_period text) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT (extract(epoch FROM (p_period || 'T00:00:00Z')::timestamptz) * 1000)::bigint
$$;

-- Whether a period comes after another; false where one of them is unknown or there are no periods.
CREATE OR REPLACE FUNCTION brand_enrich.is_later(p_period text, p_current text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(p_period <> 'none' AND p_current <> 'none' AND p_period COLLATE "C" > p_current COLLATE "C", false)
$$;

-- Settles permits of the account that are out; others in the list change nothing. Of several settlements of one
-- permit the first holds. Gives those that were billed, in the order of the list: by whom they are paid, and whether their answers
-- are dated in a later period.
CREATE OR REPLACE FUNCTION brand_enrich.close_permits(
  INOUT a brand_enrich.account, OUT has_probe_billed boolean, OUT has_confirmed boolean, OUT billed_runs text[],
  OUT billed_keys text[], OUT billed_generations text[], OUT billed_dated boolean[], OUT billed_undated boolean[],
  p_ids text[], p_as text[], p_dates text[], p_now bigint
) LANGUAGE plpgsql AS $$
DECLARE v_probes bigint; v_held bigint; v_sent bigint; v_spent bigint; v_dated bigint; v_unknown bigint; v_freed text[];
BEGIN
  WITH wanted AS (
    SELECT DISTINCT ON (u.id) u.id, u.settled, u.dated_in, u.ord
      FROM unnest(p_ids, p_as, p_dates) WITH ORDINALITY u(id, settled, dated_in, ord) ORDER BY u.id, u.ord
  ), gone AS (
    DELETE FROM brand_enrich.permit p USING wanted w WHERE p.id = w.id AND p.account = a.name
    RETURNING p.id, p.worker, p.run, p.run_key, p.generation, p.key, p.period, p.probe, w.settled, w.ord,
      w.dated_in IS NULL AS is_undated, brand_enrich.is_later(w.dated_in, a.period) AS is_later_dated,
      -- A date that this clock does not know yet proves nothing: it may belong to either period.
      brand_enrich.is_later(w.dated_in, a.period) AND p_now >= brand_enrich.start_of(w.dated_in) AS is_dated_next
  ), refunded AS (
    UPDATE brand_enrich.run_key k SET requests = k.requests - f.requests
      FROM (SELECT run_key, generation, count(*) AS requests
              FROM gone WHERE settled = 'free' GROUP BY run_key, generation ORDER BY run_key) f
     WHERE k.key = f.run_key AND k.generation = f.generation
  ), doubted AS (
    INSERT INTO brand_enrich.doubt AS d (run, key, count)
    -- Who took its claim over has counted the doubt.
    SELECT run, key, count(*) FROM gone WHERE settled = 'doubtful' AND worker <> '' GROUP BY run, key ORDER BY run, key
    ON CONFLICT (run, key) DO UPDATE SET count = d.count + excluded.count
  )
  SELECT count(*) FILTER (WHERE probe), count(*) FILTER (WHERE NOT probe),
         -- The first answers name the period that requests before them were sent in.
         count(*) FILTER (WHERE settled <> 'free' AND (period IS NULL OR period IS NOT DISTINCT FROM a.period)),
         count(*) FILTER (WHERE settled <> 'free'),
         count(*) FILTER (WHERE settled <> 'free' AND is_dated_next),
         count(*) FILTER (WHERE settled <> 'free' AND (is_undated OR (is_later_dated AND NOT is_dated_next))),
         coalesce(bool_or(probe AND settled = 'billed'), false), coalesce(bool_or(id = a.pending_asked), false),
         array_agg(run) FILTER (WHERE settled = 'free'),
         coalesce(array_agg(run ORDER BY ord) FILTER (WHERE settled <> 'free'), '{}'),
         coalesce(array_agg(run_key ORDER BY ord) FILTER (WHERE settled <> 'free'), '{}'),
         coalesce(array_agg(generation ORDER BY ord) FILTER (WHERE settled <> 'free'), '{}'),
         coalesce(array_agg(is_dated_next ORDER BY ord) FILTER (WHERE settled <> 'free'), '{}'),
         coalesce(array_agg(is_undated ORDER BY ord) FILTER (WHERE settled <> 'free'), '{}')
    INTO v_probes, v_held, v_sent, v_spent, v_dated, v_unknown, has_probe_billed, has_confirmed, v_freed,
         billed_runs, billed_keys, billed_generations, billed_dated, billed_undated FROM gone;
  -- A statement of its own: runs are locked after their keys.
  IF v_freed IS NOT NULL THEN
    UPDATE brand_enrich.run r SET spent = r.spent - f.freed
      FROM (SELECT u.run, count(*) AS freed FROM unnest(v_freed) u(run) GROUP BY u.run) f WHERE r.id = f.run;
  END IF;
  a.probes := a.probes - v_probes;
  a.held := a.held - v_held;
  a.sent := a.sent + v_sent;
  a.pending_dated := a.pending_dated + v_dated;
  a.pending_sent := a.pending_sent + v_unknown;
  IF v_spent > 0 THEN
    a := brand_enrich.turn(a, p_now);
    a.minute_sent := a.minute_sent + v_spent;
    a.second_sent := a.second_sent + v_spent;
  END IF;
END $$;

-- Where the account stands in its period.
CREATE OR REPLACE FUNCTION brand_enrich.standing_of(a brand_enrich.account) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT a.sent - a.pending_dated + a.others
$$;

-- Books which of the requests that were just closed are overage: those that stand beyond the quota in the period that they
-- were billed in. p_before: the account after closing them and before the reading. p_is_probe_within: a request beyond the limit was
-- answered with a usage below the quota.
CREATE OR REPLACE FUNCTION brand_enrich.book_overage(
  INOUT a brand_enrich.account, p_before brand_enrich.account, p_quota bigint, p_runs text[], p_keys text[],
  p_generations text[], p_dated boolean[], p_undated boolean[], p_is_probe_within boolean, p_now bigint
) LANGUAGE plpgsql AS $$
DECLARE
  v_num_dated bigint; v_num_undated bigint := 0; v_position bigint; v_dated_position bigint; v_over_runs text[] := '{}';
  v_over_keys text[] := '{}'; v_over_generations text[] := '{}'; v_is_over boolean;
  v_has_opened boolean := p_before.period IS NOT NULL AND a.period IS DISTINCT FROM p_before.period;
  -- Without a date it belongs where the last reading was.
  v_is_next_seen boolean := v_has_opened
    OR (a.pending_seen_at > 0 AND p_now >= brand_enrich.start_of(a.pending_period));
BEGIN
  IF p_runs = '{}' THEN RETURN; END IF;
  v_num_dated := (SELECT count(*) FROM unnest(p_dated) d WHERE d);
  IF v_is_next_seen THEN v_num_undated := (SELECT count(*) FROM unnest(p_undated) d WHERE d); END IF;
  IF v_has_opened THEN v_position := brand_enrich.standing_of(p_before);
  ELSE
    a.pending_dated := a.pending_dated + v_num_undated;
    a.pending_sent := a.pending_sent - v_num_undated;
    v_position := brand_enrich.standing_of(a) + v_num_undated;
  END IF;
  v_dated_position := p_before.pending_dated;
  -- Nearly always: all of them are within the quota.
  IF p_is_probe_within OR p_quota IS NULL OR v_position <= p_quota AND v_dated_position + v_num_undated <= p_quota THEN RETURN; END IF;
  v_position := v_position - (cardinality(p_runs) - v_num_dated);
  v_dated_position := v_dated_position - v_num_dated;
  FOR i IN 1 .. cardinality(p_runs) LOOP
    IF p_dated[i] OR (p_undated[i] AND v_is_next_seen) THEN
      v_dated_position := v_dated_position + 1;
      v_is_over := v_dated_position > p_quota;
    ELSE
      v_position := v_position + 1;
      v_is_over := v_position > p_quota;
    END IF;
    IF v_is_over THEN
      v_over_runs := v_over_runs || p_runs[i];
      v_over_keys := v_over_keys || p_keys[i];
      v_over_generations := v_over_generations || p_generations[i];
    END IF;
  END LOOP;
  IF v_over_runs = '{}' THEN RETURN; END IF;
  UPDATE brand_enrich.run_key k SET overage_requests = k.overage_requests + f.requests
    FROM (SELECT u.key, u.generation, count(*) AS requests FROM unnest(v_over_keys, v_over_generations) u(key, generation)
           GROUP BY u.key, u.generation ORDER BY u.key) f
   WHERE k.key = f.key AND k.generation = f.generation;
  UPDATE brand_enrich.run r SET overage_billed = r.overage_billed + f.requests
    FROM (SELECT u.run, count(*) AS requests FROM unnest(v_over_runs) u(run) GROUP BY u.run) f WHERE r.id = f.run;
END $$;

-- Permits of which nobody has the answers count as sent.
CREATE OR REPLACE FUNCTION brand_enrich.close_lost(
  INOUT a brand_enrich.account, OUT billed_runs text[], OUT billed_keys text[], OUT billed_generations text[],
  OUT billed_dated boolean[], OUT billed_undated boolean[], p_ids text[], p_now bigint
) LANGUAGE plpgsql AS $$
DECLARE r record;
BEGIN
  billed_runs := '{}'; billed_keys := '{}'; billed_generations := '{}'; billed_dated := '{}'; billed_undated := '{}';
  IF p_ids IS NULL THEN RETURN; END IF;
  SELECT * INTO r FROM brand_enrich.close_permits(a, p_ids,
    array_fill('doubtful'::text, ARRAY[cardinality(p_ids)]), array_fill(NULL::text, ARRAY[cardinality(p_ids)]), p_now);
  a := r.a;
  billed_runs := r.billed_runs; billed_keys := r.billed_keys; billed_generations := r.billed_generations;
  billed_dated := r.billed_dated; billed_undated := r.billed_undated;
END $$;

-- Those past their deadline, the oldest first. The account knows the earliest deadline, so that most calls look at nothing.
CREATE OR REPLACE FUNCTION brand_enrich.sweep(
  INOUT a brand_enrich.account, OUT billed_runs text[], OUT billed_keys text[], OUT billed_generations text[],
  OUT billed_dated boolean[], OUT billed_undated boolean[], p_now bigint
) LANGUAGE plpgsql AS $$
DECLARE v_ids text[]; r record;
BEGIN
  IF a.sweep_at <= p_now THEN
    SELECT array_agg(id ORDER BY deadline, id COLLATE "C") FILTER (WHERE deadline <= p_now),
           min(deadline) FILTER (WHERE deadline > p_now)
      INTO v_ids, a.sweep_at FROM brand_enrich.permit WHERE account = a.name;
  END IF;
  SELECT * INTO r FROM brand_enrich.close_lost(a, v_ids, p_now);
  a := r.a; billed_runs := r.billed_runs; billed_keys := r.billed_keys; billed_generations := r.billed_generations;
  billed_dated := r.billed_dated; billed_undated := r.billed_undated;
END $$;

-- Those of workers that died.
CREATE OR REPLACE FUNCTION brand_enrich.close_dead(
  INOUT a brand_enrich.account, OUT billed_runs text[], OUT billed_keys text[], OUT billed_generations text[],
  OUT billed_dated boolean[], OUT billed_undated boolean[], p_is_wanted boolean, p_now bigint
) LANGUAGE plpgsql AS $$
DECLARE v_ids text[]; r record;
BEGIN
  IF p_is_wanted THEN
    SELECT array_agg(p.id ORDER BY p.deadline, p.id COLLATE "C") INTO v_ids FROM brand_enrich.permit p
     WHERE p.account = a.name AND NOT brand_enrich.is_alive(p.worker, p_now);
  END IF;
  SELECT * INTO r FROM brand_enrich.close_lost(a, v_ids, p_now);
  a := r.a; billed_runs := r.billed_runs; billed_keys := r.billed_keys; billed_generations := r.billed_generations;
  billed_dated := r.billed_dated; billed_undated := r.billed_undated;
END $$;

-- When the clock was set back, what is dated by it goes back too: nobody waits for times that were near.
CREATE OR REPLACE FUNCTION brand_enrich.follow_clock(INOUT a brand_enrich.account, p_now bigint) LANGUAGE plpgsql AS $$
DECLARE v_back_ms bigint := a.changed_at - p_now;
BEGIN
  a.changed_at := p_now;
  IF v_back_ms <= ${RULES.clockBackMs} THEN RETURN; END IF;
  a.heard_at := brand_enrich.earlier(a.heard_at, v_back_ms);
  a.closed_at := a.closed_at - v_back_ms;
  a.next_probe_at := brand_enrich.earlier(a.next_probe_at, v_back_ms);
  a.rests_until := brand_enrich.earlier(a.rests_until, v_back_ms);
  a.suspect_since := brand_enrich.earlier(a.suspect_since, v_back_ms);
  a.pending_since := brand_enrich.earlier(a.pending_since, v_back_ms);
  a.pending_seen_at := brand_enrich.earlier(a.pending_seen_at, v_back_ms);
  a.pending_kept_at := brand_enrich.earlier(a.pending_kept_at, v_back_ms);
  a.tat := CASE WHEN a.tat = 0 THEN 0 ELSE a.tat - v_back_ms END;
  a.floor_until := brand_enrich.earlier(a.floor_until, v_back_ms);
  a.sweep_at := a.sweep_at - v_back_ms;
  UPDATE brand_enrich.permit SET deadline = deadline - v_back_ms WHERE account = a.name;
END $$;

CREATE OR REPLACE FUNCTION brand_enrich.earlier(p_time bigint, p_by_ms bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN p_time = 0 THEN 0 ELSE p_time - p_by_ms END
$$;

CREATE OR REPLACE FUNCTION brand_enrich.is_run_beating(p_beat_at bigint, p_now bigint) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT p_now - p_beat_at < ${RULES.runDeadAfterMs} AND p_beat_at - p_now <= ${RULES.runBeatAheadMs}
$$;

-- Sweeps outside of an exchange.
CREATE OR REPLACE FUNCTION brand_enrich.sweep_alone(INOUT a brand_enrich.account, p_now bigint) LANGUAGE plpgsql AS $$
DECLARE r record; v_policy record;
BEGIN
  SELECT * INTO r FROM brand_enrich.sweep(a, p_now);
  a := r.a;
  IF r.billed_runs <> '{}' THEN
    SELECT * INTO v_policy FROM brand_enrich.policy_of(a.name, p_now);
    a := brand_enrich.book_overage(a, a, coalesce(a.quota, v_policy.quota_cap), r.billed_runs, r.billed_keys,
      r.billed_generations, r.billed_dated, r.billed_undated, false, p_now);
  END IF;
END $$;

CREATE OR REPLACE FUNCTION brand_enrich.is_period_due(a brand_enrich.account, p_now bigint) RETURNS boolean
LANGUAGE sql STABLE AS $$
  SELECT a.pending_period IS NOT NULL AND (
    a.pending_falls > 1 OR a.pending_seen_at - a.pending_since >= ${RULES.periodGraceMs}
    OR p_now >= brand_enrich.start_of(a.pending_period)
       AND (a.pending_falls > 0 OR p_now - a.pending_since >= ${RULES.periodGraceMs}))
$$;

-- One answer said that usage fell in a later period, and this clock does not agree.
CREATE OR REPLACE FUNCTION brand_enrich.is_turn_unconfirmed(a brand_enrich.account, p_now bigint) RETURNS boolean
LANGUAGE sql STABLE AS $$
  SELECT a.pending_period IS NOT NULL AND a.pending_falls > 0 AND NOT brand_enrich.is_period_due(a, p_now)
$$;

-- Whether one request beyond the limit may find out if there is more: where a refusal is free, and where it is the quota
-- that is used up and not what the user allows of it.
CREATE OR REPLACE FUNCTION brand_enrich.may_find_out(a brand_enrich.account, p_quota_cap bigint, p_plan text)
RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(p_plan <> 'paid' AND NOT a.serves_overage
    AND NOT (p_quota_cap IS NOT NULL AND (a.quota IS NULL OR p_quota_cap < a.quota)), false)
$$;

-- Requests beyond the quota, if so many more than those that are held were taken.
CREATE OR REPLACE FUNCTION brand_enrich.beyond_quota(a brand_enrich.account, p_quota_cap bigint, p_more bigint)
RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT greatest(0, coalesce(a.sent + a.held + a.probes + a.others + p_more - coalesce(a.quota, p_quota_cap), 0))
$$;

-- Permits of a run key that are out, those of the account that ran out left aside.
CREATE OR REPLACE FUNCTION brand_enrich.held_of(
  p_key text, p_generation text, p_account text, p_now bigint
) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT count(*) FROM brand_enrich.permit WHERE run_key = p_key AND generation = p_generation
     AND (deadline > p_now OR account <> p_account)
$$;

-- Opens the pending period once nothing of the old one is out.
CREATE OR REPLACE FUNCTION brand_enrich.open_due_period(INOUT a brand_enrich.account, OUT has_opened boolean, p_now bigint)
LANGUAGE plpgsql AS $$
BEGIN
  has_opened := brand_enrich.is_period_due(a, p_now) AND a.held = 0 AND a.probes = 0;
  IF NOT has_opened THEN RETURN; END IF;
  a.period := a.pending_period;
  a.pending_period := NULL; a.pending_since := 0; a.pending_seen_at := 0; a.pending_falls := 0;
  a.pending_asked := NULL;
  a.sent := a.pending_sent + a.pending_dated; a.pending_sent := 0; a.pending_dated := 0;
  a.others := 0; a.usage := NULL; a.closed_at := NULL; a.suspect_since := 0;
END $$;

CREATE OR REPLACE FUNCTION brand_enrich.apply_reading(
  INOUT a brand_enrich.account, p jsonb, p_has_confirmed boolean, p_now bigint
) LANGUAGE plpgsql AS $$
DECLARE
  v_quota bigint := (p->>'quota')::bigint;
  v_usage bigint := (p->>'usage')::bigint;
  v_next text := p->>'period';
  v_candidate bigint; v_jump bigint; r record;
BEGIN
  IF v_next <> 'none' AND a.period IS DISTINCT FROM 'none' THEN
    IF a.period IS NULL THEN
      -- One answer names it where this clock is in it or near it, else two in a row.
      IF a.first_period = v_next
         OR p_now - brand_enrich.start_of(v_next) BETWEEN ${-RULES.periodAheadMs} AND ${RULES.longestPeriodMs} THEN
        a.period := v_next; a.first_period := NULL;
      ELSE
        a.first_period := v_next;
      END IF;
    ELSIF v_next COLLATE "C" < a.period COLLATE "C" THEN
      IF brand_enrich.start_of(a.period) - p_now <= ${RULES.periodAheadMs} OR brand_enrich.start_of(v_next) > p_now THEN RETURN; END IF;
      -- It was named by a date that was not to come for long.
      a.period := v_next;
    END IF;
    IF a.period IS NULL THEN NULL;
    ELSIF v_next COLLATE "C" > a.period COLLATE "C" THEN
      IF a.pending_period IS DISTINCT FROM v_next THEN
        a.pending_period := v_next; a.pending_since := p_now; a.pending_kept_at := p_now; a.pending_falls := 0;
      END IF;
      a.pending_seen_at := p_now;
      IF v_usage >= a.usage THEN a.pending_falls := 0;
      ELSIF v_usage < a.usage AND (a.pending_falls = 0 OR p_has_confirmed) THEN
        a.pending_falls := a.pending_falls + 1;
      END IF;
      SELECT * INTO r FROM brand_enrich.open_due_period(a, p_now);
      a := r.a;
      IF NOT r.has_opened THEN RETURN; END IF;
    ELSE
      -- Not in a row: the service still is in this period, and soon what was dated otherwise is too.
      a.pending_falls := 0; a.pending_since := p_now; a.pending_seen_at := 0;
      IF p_now - a.pending_kept_at >= ${RULES.pendingKeptMs} THEN a.pending_sent := 0; a.pending_kept_at := p_now; END IF;
    END IF;
  ELSIF v_next = 'none' AND a.period IS NULL THEN a.period := 'none';
  END IF;
  IF v_quota IS NOT NULL THEN
    IF v_quota > a.quota THEN a.closed_at := NULL; END IF;
    a.quota := v_quota;
  END IF;
  IF v_usage IS NULL THEN RETURN; END IF;
  v_candidate := v_usage - a.sent - a.held - a.probes;
  v_jump := v_candidate - a.others;
  a := brand_enrich.turn(a, p_now);
  IF a.heard_at <> 0 AND a.usage IS NOT NULL
     AND v_jump > greatest(${RULES.jumpFloor}, 10 * (a.minute_sent + a.minute_before)) THEN
    IF a.suspect_since = 0 THEN a.suspect_since := p_now; END IF;
    IF p_now - a.suspect_since < ${RULES.jumpConfirmMs} THEN RETURN; END IF;
  END IF;
  a.suspect_since := 0;
  a.usage := v_usage;
  IF v_jump > 0 THEN a.others := v_candidate; END IF;
END $$;

-- The ledger went back in time: the highest state that the caller saw is written back, and spending rests.
CREATE OR REPLACE FUNCTION brand_enrich.restore_seen(INOUT a brand_enrich.account, p jsonb, p_lag_ms float8, p_now bigint)
LANGUAGE plpgsql AS $$
DECLARE
  v_version bigint := (p->>'version')::bigint;
  v_is_same boolean := p->>'epoch' = a.epoch;
BEGIN
  IF v_is_same AND v_version <= a.version THEN RETURN; END IF;
  IF a.period IS NULL THEN a.period := p->>'period'; END IF;
  IF a.period IS NOT DISTINCT FROM p->>'period' THEN
    a.sent := greatest(a.sent, (p->>'spent')::bigint);
    a.others := greatest(a.others, (p->>'others')::bigint);
  END IF;
  IF v_is_same THEN a.version := v_version; END IF;
  a.rests_until := p_now + p_lag_ms;
  a.heard_at := 0;
END $$;

-- The live runs' policy: of several, the lowest holds. No live run: no overage and no cap.
CREATE OR REPLACE FUNCTION brand_enrich.policy_of(p_account text, p_now bigint, OUT quota_cap bigint, OUT overage bigint)
LANGUAGE plpgsql AS $$
BEGIN
  SELECT min(r.quota_cap), coalesce(min(r.overage), 0) INTO quota_cap, overage FROM brand_enrich.run r
   WHERE r.account = p_account AND r.status = 'running' AND brand_enrich.is_run_beating(r.beat_at, p_now);
END $$;
`;
