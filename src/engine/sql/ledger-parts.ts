/**
 * The steps of the ledger as SQL functions: each takes an account and gives it back changed. They are a port of
 * `test/model/ledger-model.ts`, step by step; `exchange-function.ts` puts them in order.
 */
import { RUN_DEAD_AFTER_MS } from '../../runs/run-store.js';
import { ACCOUNT_COLUMNS } from './ledger-tables.js';

/** A reading that raises `others` by more than this, and by more than 10 x our own rate, must be seen twice. */
const JUMP_FLOOR = 1_000;
const JUMP_CONFIRM_MS = 60_000;
/** The next period opens at the latest so long after the service's date first was in it. */
const PERIOD_GRACE_MS = 900_000;

const names = ACCOUNT_COLUMNS.map(([name]) => name);

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

-- Settles permits of the account that are out; others in the list change nothing. Of several settlements of one
-- permit the first holds.
CREATE OR REPLACE FUNCTION brand_enrich.close_permits(
  INOUT a brand_enrich.account, OUT has_probe_billed boolean, p_ids text[], p_as text[], p_now bigint
) LANGUAGE plpgsql AS $$
DECLARE v_probes bigint; v_held bigint; v_sent bigint; v_spent bigint; v_freed text[];
BEGIN
  WITH wanted AS (
    SELECT DISTINCT ON (u.id) u.id, u.settled FROM unnest(p_ids, p_as) WITH ORDINALITY u(id, settled, ord)
     ORDER BY u.id, u.ord
  ), gone AS (
    DELETE FROM brand_enrich.permit p USING wanted w WHERE p.id = w.id AND p.account = a.name
    RETURNING p.run, p.run_key, p.key, p.period, p.overage, p.probe, w.settled
  ), refunded AS (
    UPDATE brand_enrich.run_key k
       SET requests = greatest(0, k.requests - f.requests),
           overage_requests = greatest(0, k.overage_requests - f.overage_requests)
      FROM (SELECT run_key, count(*) AS requests, count(*) FILTER (WHERE overage) AS overage_requests
              FROM gone WHERE settled = 'free' GROUP BY run_key ORDER BY run_key) f
     WHERE k.key = f.run_key
  ), doubted AS (
    INSERT INTO brand_enrich.doubt AS d (run, key, count)
    SELECT run, key, count(*) FROM gone WHERE settled = 'doubtful' GROUP BY run, key ORDER BY run, key
    ON CONFLICT (run, key) DO UPDATE SET count = d.count + excluded.count
  )
  SELECT count(*) FILTER (WHERE probe), count(*) FILTER (WHERE NOT probe),
         count(*) FILTER (WHERE settled <> 'free' AND period IS NOT DISTINCT FROM a.period),
         count(*) FILTER (WHERE settled <> 'free'),
         coalesce(bool_or(probe AND settled = 'billed'), false),
         array_agg(run) FILTER (WHERE settled = 'free')
    INTO v_probes, v_held, v_sent, v_spent, has_probe_billed, v_freed FROM gone;
  -- A statement of its own: runs are locked after their keys.
  IF v_freed IS NOT NULL THEN
    UPDATE brand_enrich.run r SET spent = r.spent - f.freed
      FROM (SELECT u.run, count(*) AS freed FROM unnest(v_freed) u(run) GROUP BY u.run) f WHERE r.id = f.run;
  END IF;
  a.probes := a.probes - v_probes;
  a.held := a.held - v_held;
  a.sent := a.sent + v_sent;
  a.pending_sent := a.pending_sent + v_spent;
  IF v_spent > 0 THEN
    a := brand_enrich.turn(a, p_now);
    a.minute_sent := a.minute_sent + v_spent;
    a.second_sent := a.second_sent + v_spent;
  END IF;
END $$;

-- Permits past their deadline count as sent. The account knows the earliest deadline, so that most calls look at nothing.
CREATE OR REPLACE FUNCTION brand_enrich.sweep(INOUT a brand_enrich.account, p_now bigint) LANGUAGE plpgsql AS $$
DECLARE v_ids text[]; r record;
BEGIN
  IF a.sweep_at IS NULL OR a.sweep_at > p_now THEN RETURN; END IF;
  SELECT array_agg(id) FILTER (WHERE deadline <= p_now), min(deadline) FILTER (WHERE deadline > p_now)
    INTO v_ids, a.sweep_at FROM brand_enrich.permit WHERE account = a.name;
  IF v_ids IS NOT NULL THEN
    SELECT * INTO r
      FROM brand_enrich.close_permits(a, v_ids, array_fill('billed'::text, ARRAY[cardinality(v_ids)]), p_now);
    a := r.a;
  END IF;
END $$;

CREATE OR REPLACE FUNCTION brand_enrich.is_period_due(a brand_enrich.account, p_now bigint) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT a.pending_period IS NOT NULL AND (a.pending_fell OR p_now - a.pending_since >= ${PERIOD_GRACE_MS})
$$;

-- Opens the pending period once nothing of the old one is out.
CREATE OR REPLACE FUNCTION brand_enrich.open_due_period(INOUT a brand_enrich.account, OUT has_opened boolean, p_now bigint)
LANGUAGE plpgsql AS $$
BEGIN
  has_opened := brand_enrich.is_period_due(a, p_now) AND a.held = 0 AND a.probes = 0;
  IF NOT has_opened THEN RETURN; END IF;
  a.period := a.pending_period;
  a.pending_period := NULL; a.pending_since := 0; a.pending_fell := false;
  a.sent := a.pending_sent; a.pending_sent := 0;
  a.others := 0; a.usage := NULL; a.closed_at := NULL; a.suspect_since := 0;
END $$;

CREATE OR REPLACE FUNCTION brand_enrich.apply_reading(INOUT a brand_enrich.account, p jsonb, p_now bigint)
LANGUAGE plpgsql AS $$
DECLARE
  v_quota bigint := (p->>'quota')::bigint;
  v_usage bigint := (p->>'usage')::bigint;
  v_next text := p->>'period';
  v_candidate bigint; v_jump bigint; r record;
BEGIN
  IF v_next <> 'none' AND a.period IS DISTINCT FROM 'none' THEN
    IF a.period IS NULL THEN a.period := v_next;
    ELSIF v_next COLLATE "C" < a.period COLLATE "C" THEN RETURN;
    ELSIF v_next COLLATE "C" > a.period COLLATE "C" THEN
      IF a.pending_period IS DISTINCT FROM v_next THEN
        a.pending_period := v_next; a.pending_since := p_now; a.pending_fell := false;
      END IF;
      IF v_usage < a.usage THEN a.pending_fell := true; END IF;
      SELECT * INTO r FROM brand_enrich.open_due_period(a, p_now);
      a := r.a;
      IF NOT r.has_opened THEN RETURN; END IF;
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
     AND v_jump > greatest(${JUMP_FLOOR}, 10 * (a.minute_sent + a.minute_before)) THEN
    IF a.suspect_since = 0 THEN a.suspect_since := p_now; END IF;
    IF p_now - a.suspect_since < ${JUMP_CONFIRM_MS} THEN RETURN; END IF;
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
   WHERE r.account = p_account AND r.status = 'running' AND p_now - r.beat_at < ${RUN_DEAD_AFTER_MS};
END $$;
`;
