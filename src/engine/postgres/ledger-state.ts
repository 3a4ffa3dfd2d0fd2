/**
 * The account as numbers after an operation, and the operations on it that nobody waits for: show, open, observe,
 * reset, pause. A port of the same functions of `test/model/ledger-model.ts`.
 */
import { NEW_ACCOUNT } from './ledger-tables.js';

export const LEDGER_STATE = `
CREATE OR REPLACE FUNCTION brand_enrich.state_of(
  a brand_enrich.account, p_run brand_enrich.run, p_is_paused boolean, p_now bigint
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  v_policy record; v_key brand_enrich.run_key; v_run jsonb; v_in_flight bigint := 0; v_overage_billed bigint;
  v_limit bigint; v_has_room boolean;
  v_is_turn boolean := brand_enrich.is_turn_unconfirmed(a, p_now);
BEGIN
  SELECT * INTO v_policy FROM brand_enrich.policy_of(a.name, p_now);
  v_limit := least(a.quota, v_policy.quota_cap) + v_policy.overage;
  v_has_room := v_limit IS NULL OR a.sent + a.held + a.others < v_limit;
  IF p_run.id IS NOT NULL THEN
    SELECT * INTO v_key FROM brand_enrich.run_key k WHERE k.key = p_run.key;
    IF p_run.max_overage_requests IS NOT NULL THEN
      v_in_flight := least(brand_enrich.beyond_quota(a, v_policy.quota_cap, 0),
        CASE WHEN v_key.key IS NULL THEN 0 ELSE brand_enrich.held_of(v_key.key, v_key.generation, a.name, p_now) END);
    END IF;
    SELECT overage_billed INTO v_overage_billed FROM brand_enrich.run WHERE id = p_run.id;
    v_run := jsonb_build_object(
      'status', CASE WHEN p_run.status = 'cancelled' THEN 'cancelled'
                     WHEN p_run.status <> 'running' OR NOT brand_enrich.is_run_beating(p_run.beat_at, p_now) THEN 'dead'
                     WHEN p_run.halt_why IS NOT NULL THEN 'halted'
                     ELSE 'alive' END,
      'requests', coalesce(v_key.requests, 0), 'overageRequests', coalesce(v_key.overage_requests, 0),
      'overageInFlight', v_in_flight, 'overageBilled', v_overage_billed,
      'maxRequests', p_run.max_requests, 'maxOverageRequests', p_run.max_overage_requests);
  END IF;
  RETURN jsonb_build_object(
    'now', p_now, 'epoch', a.epoch, 'version', a.version, 'period', a.period,
    'isDraining', brand_enrich.is_period_due(a, p_now) OR (v_is_turn AND a.held + a.probes > 0),
    'isTurnUnconfirmed', v_is_turn AND (v_has_room OR coalesce(p_run.plan = 'free', false)
      AND brand_enrich.may_find_out(a, v_policy.quota_cap, p_run.plan)),
    'sent', a.sent, 'held', a.held, 'probes', a.probes, 'others', a.others,
    'quota', a.quota, 'usage', a.usage, 'heardAt', a.heard_at, 'closedAt', a.closed_at,
    'nextProbeAt', a.next_probe_at,
    'restsUntil', CASE WHEN a.rests_until > p_now THEN a.rests_until ELSE 0 END,
    'servesOverage', a.serves_overage, 'isPaused', p_is_paused,
    'quotaCap', v_policy.quota_cap, 'overage', v_policy.overage,
    'pace', jsonb_build_object(
      'version', a.pace_version, 'rate', a.rate, 'burst', a.burst,
      'floorMs', greatest(0, a.floor_until - p_now),
      'acceptedLastSecond', a.second_before, 'acceptedThisSecond', a.second_sent),
    'run', v_run);
END $$;

-- What open, observe and raise end with.
CREATE OR REPLACE FUNCTION brand_enrich.finish_account(a brand_enrich.account, p_now bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE v_is_paused boolean; v_run brand_enrich.run;
BEGIN
  a := brand_enrich.turn(a, p_now);
  PERFORM brand_enrich.save_account(a);
  SELECT is_paused INTO v_is_paused FROM brand_enrich.engine_state;
  RETURN brand_enrich.state_of(a, v_run, v_is_paused, p_now);
END $$;

-- Changes nothing: what ran out is counted as sent for the answer alone. An account that is not there has no epoch.
CREATE OR REPLACE FUNCTION brand_enrich.show_account(p_offset bigint, p_account text, p_run text) RETURNS jsonb
LANGUAGE plpgsql STABLE AS $$
DECLARE
  a brand_enrich.account; v_run brand_enrich.run; v_is_paused boolean; r record;
  v_now bigint := brand_enrich.now_ms(p_offset);
BEGIN
  SELECT * INTO a FROM brand_enrich.account WHERE name = p_account;
  IF NOT FOUND THEN
    a := jsonb_populate_record(NULL::brand_enrich.account, '${NEW_ACCOUNT}');
    a.name := p_account;
  END IF;
  SELECT count(*) FILTER (WHERE probe) AS probes, count(*) FILTER (WHERE NOT probe) AS held, count(*) AS spent,
         count(*) FILTER (WHERE period IS NULL OR period IS NOT DISTINCT FROM a.period) AS sent
    INTO r FROM brand_enrich.permit WHERE account = p_account AND deadline <= v_now;
  a.probes := a.probes - r.probes;
  a.held := a.held - r.held;
  a.sent := a.sent + r.sent;
  a := brand_enrich.turn(a, v_now);
  a.second_sent := a.second_sent + r.spent;
  SELECT * INTO v_run FROM brand_enrich.run WHERE id = p_run;
  SELECT is_paused INTO v_is_paused FROM brand_enrich.engine_state;
  RETURN brand_enrich.state_of(a, v_run, v_is_paused, v_now);
END $$;

CREATE OR REPLACE FUNCTION brand_enrich.open_account(
  p_offset bigint, p_account text, p_has_pace boolean, p_rate float8, p_burst float8
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE a brand_enrich.account := brand_enrich.lock_account(p_account);
        v_now bigint := brand_enrich.now_ms(p_offset);
BEGIN
  a := brand_enrich.follow_clock(a, v_now);
  a := brand_enrich.sweep_alone(a, v_now);
  a.heard_at := 0;
  a.next_probe_at := v_now;
  IF p_has_pace THEN
    a.pace_version := a.pace_version + 1;
    a.rate := p_rate;
    a.burst := p_burst;
  END IF;
  a.version := a.version + 1;
  RETURN brand_enrich.finish_account(a, v_now);
END $$;

CREATE OR REPLACE FUNCTION brand_enrich.observe_account(
  p_offset bigint, p_account text, p_usage bigint, p_quota bigint
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE a brand_enrich.account := brand_enrich.lock_account(p_account);
        v_now bigint := brand_enrich.now_ms(p_offset);
BEGIN
  a := brand_enrich.follow_clock(a, v_now);
  a := brand_enrich.sweep_alone(a, v_now);
  IF p_quota IS NOT NULL THEN a.quota := p_quota; END IF;
  IF p_usage IS NOT NULL THEN
    a.usage := p_usage;
    a.sent := least(a.sent, p_usage);
    a.serves_overage := false;
    a.others := greatest(0, p_usage - a.sent - a.held - a.probes);
  END IF;
  a.closed_at := NULL;
  a.suspect_since := 0;
  a.next_probe_at := v_now;
  a.version := a.version + 1;
  RETURN brand_enrich.finish_account(a, v_now);
END $$;

-- What another ledger knows of the account: the larger sum holds. A later period opens once nothing is in flight.
CREATE OR REPLACE FUNCTION brand_enrich.raise_account(
  p_offset bigint, p_account text, p_period text, p_sent bigint, p_others bigint, p_quota bigint
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE a brand_enrich.account := brand_enrich.lock_account(p_account);
        v_now bigint := brand_enrich.now_ms(p_offset);
        v_missing bigint; v_ours bigint; r record;
BEGIN
  a := brand_enrich.follow_clock(a, v_now);
  a := brand_enrich.sweep_alone(a, v_now);
  IF brand_enrich.is_later(p_period, a.period) THEN
    IF a.pending_period IS NULL THEN a.pending_sent := 0; a.pending_dated := 0; END IF;
    a.pending_period := p_period;
    a.pending_falls := 2;
    SELECT * INTO r FROM brand_enrich.open_due_period(a, v_now);
    a := r.a;
  END IF;
  a.period := coalesce(a.period, p_period);
  IF p_period IS NULL OR a.period = p_period OR 'none' IN (a.period, p_period) THEN
    v_missing := greatest(0, p_sent + p_others - a.sent - a.held - a.probes - a.others);
    v_ours := least(v_missing, greatest(0, p_sent - a.sent - a.held - a.probes));
    a.sent := a.sent + v_ours;
    a.others := a.others + v_missing - v_ours;
    a.quota := coalesce(a.quota, p_quota);
  END IF;
  a.version := a.version + 1;
  RETURN brand_enrich.finish_account(a, v_now);
END $$;

CREATE OR REPLACE FUNCTION brand_enrich.account_names(p_offset bigint) RETURNS jsonb LANGUAGE sql AS $$
  SELECT coalesce(jsonb_agg(name), '[]') FROM brand_enrich.account
$$;

CREATE OR REPLACE FUNCTION brand_enrich.reset_account(p_offset bigint, p_account text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  -- The account's row first: an exchange that is under way ends before its permits are forgotten.
  DELETE FROM brand_enrich.account WHERE name = p_account;
  DELETE FROM brand_enrich.permit WHERE account = p_account;
END $$;

CREATE OR REPLACE FUNCTION brand_enrich.set_paused(p_offset bigint, p_is_paused boolean) RETURNS void LANGUAGE sql AS $$
  UPDATE brand_enrich.engine_state SET is_paused = p_is_paused
$$;
`;
