-- Permits: closing them (settled, past their deadline, of dead workers), booking what was overage,
-- and what may be granted.

-- A request that was billed or perhaps billed: by whom it is paid, and whether its answer is dated
-- in a later period or not at all.
CREATE TYPE brand_enrich.billed AS (
  run text, key text, generation text, is_dated_next boolean, is_undated boolean
);

-- Settles permits of the account that are out; others in the list change nothing. p_settle:
-- `{permit, as, period}` as in a request; of several for one permit the first holds. `lost`: nobody
-- has the answer, and it counts as sent. Gives those that were billed, in the order of the list.
CREATE FUNCTION brand_enrich.close_permits(
  INOUT a brand_enrich.account, OUT has_probe_billed boolean, OUT has_confirmed boolean, OUT billed brand_enrich.billed[],
  p_settle jsonb, p_now bigint
) LANGUAGE plpgsql AS $$
DECLARE v_probes bigint; v_held bigint; v_sent bigint; v_spent bigint; v_dated bigint; v_unknown bigint; v_freed text[];
BEGIN
  has_probe_billed := false; has_confirmed := false;
  IF p_settle = '[]' THEN RETURN; END IF;
  WITH wanted AS (
    SELECT DISTINCT ON (x->>'permit') x->>'permit' AS id, x->>'as' AS settled, x->>'period' AS dated_in, ord
      FROM jsonb_array_elements(p_settle) WITH ORDINALITY e(x, ord) ORDER BY x->>'permit', ord
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
    SELECT run, key, count(*) FROM gone WHERE settled IN ('doubtful', 'lost') AND worker <> '' GROUP BY run, key ORDER BY run, key
    ON CONFLICT (run, key) DO UPDATE SET count = d.count + excluded.count
  )
  SELECT count(*) FILTER (WHERE probe), count(*) FILTER (WHERE NOT probe),
         -- The first answers name the period that requests before them were sent in.
         count(*) FILTER (WHERE settled <> 'free' AND (period IS NULL OR period IS NOT DISTINCT FROM a.period)),
         count(*) FILTER (WHERE settled <> 'free'),
         count(*) FILTER (WHERE settled <> 'free' AND is_dated_next),
         count(*) FILTER (WHERE settled <> 'free' AND (is_undated OR (is_later_dated AND NOT is_dated_next))),
         coalesce(bool_or(probe AND settled = 'billed'), false),
         coalesce(bool_or(settled <> 'lost' AND id = a.pending_asked), false),
         array_agg(run) FILTER (WHERE settled = 'free'),
         array_agg(ROW(run, run_key, generation, is_dated_next, is_undated)::brand_enrich.billed ORDER BY ord)
           FILTER (WHERE settled <> 'free')
    INTO v_probes, v_held, v_sent, v_spent, v_dated, v_unknown, has_probe_billed, has_confirmed, v_freed, billed FROM gone;
  -- A separate statement: runs are locked after their keys.
  IF v_freed IS NOT NULL THEN
    UPDATE brand_enrich.run_spending r SET spent = r.spent - f.freed
      FROM (SELECT u.run, count(*) AS freed FROM unnest(v_freed) u(run) GROUP BY u.run) f WHERE r.run = f.run;
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

-- Permits past their deadline for `close_permits`, the oldest first. The account knows the earliest
-- deadline, so that most calls look at nothing.
CREATE FUNCTION brand_enrich.due_permits(INOUT a brand_enrich.account, OUT due jsonb, p_now bigint) LANGUAGE plpgsql AS $$
BEGIN
  IF a.sweep_at <= p_now THEN
    SELECT jsonb_agg(jsonb_build_object('permit', id, 'as', 'lost') ORDER BY deadline, id COLLATE "C")
             FILTER (WHERE deadline <= p_now),
           min(deadline) FILTER (WHERE deadline > p_now)
      INTO due, a.sweep_at FROM brand_enrich.permit WHERE account = a.name;
  END IF;
  due := coalesce(due, '[]');
END $$;

-- Where the account stands in its period.
CREATE FUNCTION brand_enrich.standing_of(a brand_enrich.account) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT a.sent - a.pending_dated + a.others
$$;

-- Books which of the requests that were just closed are overage: those that stand beyond the quota
-- in the period that they were billed in. p_before: the account after closing them and before the
-- reading. p_is_probe_within: a request beyond the limit was answered with a usage below the quota.
CREATE FUNCTION brand_enrich.book_overage(
  INOUT a brand_enrich.account, p_before brand_enrich.account, p_quota bigint, p_billed brand_enrich.billed[],
  p_is_probe_within boolean, p_now bigint
) LANGUAGE plpgsql AS $$
DECLARE
  v_num_dated bigint; v_num_undated bigint := 0; v_position bigint; v_dated_position bigint; v_is_over boolean;
  v_over brand_enrich.billed[] := '{}'; b brand_enrich.billed;
  v_has_opened boolean := p_before.period IS NOT NULL AND a.period IS DISTINCT FROM p_before.period;
  -- Without a date it belongs where the last reading was.
  v_is_next_seen boolean := v_has_opened
    OR (a.pending_seen_at > 0 AND p_now >= brand_enrich.start_of(a.pending_period));
BEGIN
  IF p_billed IS NULL THEN RETURN; END IF;
  v_num_dated := (SELECT count(*) FROM unnest(p_billed) u WHERE u.is_dated_next);
  IF v_is_next_seen THEN v_num_undated := (SELECT count(*) FROM unnest(p_billed) u WHERE u.is_undated); END IF;
  IF v_has_opened THEN v_position := brand_enrich.standing_of(p_before);
  ELSE
    a.pending_dated := a.pending_dated + v_num_undated;
    a.pending_sent := a.pending_sent - v_num_undated;
    v_position := brand_enrich.standing_of(a) + v_num_undated;
  END IF;
  v_dated_position := p_before.pending_dated;
  -- Nearly always: all of them are within the quota.
  IF p_is_probe_within OR p_quota IS NULL OR v_position <= p_quota AND v_dated_position + v_num_undated <= p_quota THEN RETURN; END IF;
  v_position := v_position - (cardinality(p_billed) - v_num_dated);
  v_dated_position := v_dated_position - v_num_dated;
  FOREACH b IN ARRAY p_billed LOOP
    IF b.is_dated_next OR (b.is_undated AND v_is_next_seen) THEN
      v_dated_position := v_dated_position + 1;
      v_is_over := v_dated_position > p_quota;
    ELSE
      v_position := v_position + 1;
      v_is_over := v_position > p_quota;
    END IF;
    IF v_is_over THEN v_over := array_append(v_over, b); END IF;
  END LOOP;
  IF v_over = '{}' THEN RETURN; END IF;
  UPDATE brand_enrich.run_key k SET overage_requests = k.overage_requests + f.requests
    FROM (SELECT u.key, u.generation, count(*) AS requests FROM unnest(v_over) u GROUP BY u.key, u.generation ORDER BY u.key) f
   WHERE k.key = f.key AND k.generation = f.generation;
  UPDATE brand_enrich.run_spending r SET overage_billed = r.overage_billed + f.requests
    FROM (SELECT u.run, count(*) AS requests FROM unnest(v_over) u GROUP BY u.run) f WHERE r.run = f.run;
END $$;

-- Whether one request beyond the limit may find out if there is more: where a refusal is free, and
-- where it is the quota that is used up and not what the user allows of it.
CREATE FUNCTION brand_enrich.may_find_out(a brand_enrich.account, p_quota_cap bigint, p_plan text)
RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(p_plan <> 'paid' AND NOT a.serves_overage
    AND NOT (p_quota_cap IS NOT NULL AND (a.quota IS NULL OR p_quota_cap < a.quota)), false)
$$;

-- Whether a request beyond the limit may confirm that the next period has begun: where the user
-- says that the plan is free, however often; else only where a request that went alone brought the
-- first word of it.
CREATE FUNCTION brand_enrich.may_confirm_turn(a brand_enrich.account, p_quota_cap bigint, p_plan text)
RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(p_plan = 'free' OR a.pending_asked IS NOT NULL, false) AND brand_enrich.may_find_out(a, p_quota_cap, p_plan)
$$;

-- Requests beyond the quota, if so many more than those that are held were taken.
CREATE FUNCTION brand_enrich.beyond_quota(a brand_enrich.account, p_quota_cap bigint, p_more bigint)
RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT greatest(0, coalesce(brand_enrich.spent_of(a) + a.probes + p_more - coalesce(a.quota, p_quota_cap), 0))
$$;

-- Permits of a run key that are out, those of the account that ran out left aside.
CREATE FUNCTION brand_enrich.held_of(
  p_key text, p_generation text, p_account text, p_now bigint
) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT count(*) FROM brand_enrich.permit WHERE run_key = p_key AND generation = p_generation
     AND (deadline > p_now OR account <> p_account)
$$;

-- How far beyond the quota the account may stand without another run passing its cap with the
-- permits that it has out: all of them may turn out to be overage. NULL: as far as anybody likes.
CREATE FUNCTION brand_enrich.overage_room_of_others(p_account text, p_own_key text) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT min(greatest(0, h.cap - k.overage_requests))
    FROM (SELECT p.run_key, p.generation, count(*) AS held, min(r.max_overage_requests) AS cap
            FROM brand_enrich.permit p LEFT JOIN brand_enrich.run r ON r.id = p.run
           WHERE p.account = p_account AND p.run_key IS DISTINCT FROM p_own_key
           GROUP BY p.run_key, p.generation) h
    JOIN brand_enrich.run_key k ON k.key = h.run_key AND k.generation = h.generation
   WHERE h.held > h.cap - k.overage_requests
$$;
