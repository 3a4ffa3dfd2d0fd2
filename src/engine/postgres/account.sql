-- A port of `test/model/ledger-model.ts`, as all of the ledger; comments stand at the functions of
-- the same names in `../redis`. Each rule of `src/ledger/rules.ts` is a function: `days_kept()`.

CREATE FUNCTION brand_enrich.now_ms(p_offset bigint) RETURNS bigint LANGUAGE sql VOLATILE AS $$
  SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint + p_offset
$$;

-- Creates the account if it is missing, and locks it until the transaction ends.
CREATE FUNCTION brand_enrich.load_account(p_name text) RETURNS brand_enrich.account LANGUAGE plpgsql AS $$
DECLARE a brand_enrich.account;
BEGIN
  SELECT * INTO a FROM brand_enrich.account WHERE name = p_name FOR UPDATE;
  IF NOT FOUND THEN
    INSERT INTO brand_enrich.account (name, epoch) VALUES (p_name, gen_random_uuid()::text)
      ON CONFLICT DO NOTHING;
    SELECT * INTO a FROM brand_enrich.account WHERE name = p_name FOR UPDATE;
  END IF;
  RETURN a;
END $$;

-- Generates `save_account` and `new_account` from the columns of the table.
DO $do$
DECLARE v_names text; v_values text; v_new text;
BEGIN
  SELECT string_agg(quote_ident(c.attname), ', ' ORDER BY c.attnum) FILTER (WHERE c.attname <> 'name'),
         string_agg('a.' || quote_ident(c.attname), ', ' ORDER BY c.attnum)
           FILTER (WHERE c.attname <> 'name'),
         string_agg(CASE c.attname WHEN 'name' THEN 'p_name' WHEN 'epoch' THEN $$''$$
                    ELSE coalesce(pg_get_expr(d.adbin, d.adrelid), 'NULL') END, ', ' ORDER BY c.attnum)
    INTO v_names, v_values, v_new
    FROM pg_attribute c LEFT JOIN pg_attrdef d ON d.adrelid = c.attrelid AND d.adnum = c.attnum
   WHERE c.attrelid = 'brand_enrich.account'::regclass AND c.attnum > 0 AND NOT c.attisdropped;
  EXECUTE format('CREATE FUNCTION brand_enrich.save_account(a brand_enrich.account) RETURNS void
    LANGUAGE plpgsql AS
    $$ BEGIN UPDATE brand_enrich.account SET (%s) = ROW(%s) WHERE name = a.name; END $$', v_names, v_values);
  EXECUTE format('CREATE FUNCTION brand_enrich.new_account(p_name text) RETURNS brand_enrich.account
    LANGUAGE sql STABLE AS
    $$ SELECT ROW(%s)::brand_enrich.account $$', v_new);
END $do$;

CREATE FUNCTION brand_enrich.limit_of(a brand_enrich.account, p_quota_cap bigint, p_overage bigint)
  RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN p_quota_cap < a.quota THEN p_quota_cap ELSE coalesce(a.quota, p_quota_cap) + p_overage END
$$;

CREATE FUNCTION brand_enrich.spent_of(a brand_enrich.account) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT a.sent + a.held + a.others
$$;
CREATE FUNCTION brand_enrich.has_room(a brand_enrich.account, p_limit bigint) RETURNS boolean
  LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(brand_enrich.spent_of(a) < p_limit, true)
$$;

CREATE FUNCTION brand_enrich.is_later(p_period text, p_current text) RETURNS boolean
  LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(p_period <> 'none' AND p_current <> 'none' AND p_period COLLATE "C" > p_current COLLATE "C",
    false)
$$;

CREATE FUNCTION brand_enrich.beyond_quota(a brand_enrich.account, p_quota_cap bigint, p_more bigint)
RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT greatest(0, coalesce(brand_enrich.spent_of(a) + a.probes + p_more - coalesce(a.quota, p_quota_cap),
    0))
$$;

CREATE FUNCTION brand_enrich.turn(INOUT a brand_enrich.account, p_now bigint) LANGUAGE plpgsql AS $$
DECLARE v_second bigint := p_now / 1000;
BEGIN
  IF v_second <> a.second THEN
    a.second_before := CASE WHEN v_second = a.second + 1 THEN a.second_sent ELSE 0 END;
    a.second_sent := 0;
    a.second := v_second;
  END IF;
END $$;

CREATE FUNCTION brand_enrich.turn_day(INOUT a brand_enrich.account, p_now bigint) LANGUAGE plpgsql AS $$
DECLARE
  v_last bigint := a.changed_at / 86400000;
  v_uses text[] := CASE WHEN a.days = '' THEN '{}' ELSE string_to_array(a.days, ' ') END;
BEGIN
  IF a.changed_at > 0 THEN v_uses := v_uses || concat(v_last, ':', a.sent + a.others); END IF;
  SELECT coalesce(string_agg(kept.use, ' ' ORDER BY kept.day), '') INTO a.days
    FROM (SELECT u.use, split_part(u.use, ':', 1)::bigint AS day FROM unnest(v_uses) u(use)
           WHERE split_part(u.use, ':', 1)::bigint < p_now / 86400000
           ORDER BY day DESC LIMIT brand_enrich.days_kept() - 1) kept;
END $$;

CREATE FUNCTION brand_enrich.days_of(a brand_enrich.account, p_now bigint) RETURNS text
  LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN a.changed_at = 0 THEN '' ELSE ltrim(concat(a.days, ' ', p_now / 86400000, ':',
    a.sent + a.others)) END
$$;

CREATE FUNCTION brand_enrich.follow_clock(INOUT a brand_enrich.account, p_now bigint) LANGUAGE plpgsql AS $$
DECLARE v_last bigint := a.changed_at;
BEGIN
  IF v_last / 86400000 <> p_now / 86400000 THEN a := brand_enrich.turn_day(a, p_now); END IF;
  a.changed_at := p_now;
  IF v_last <= p_now THEN RETURN; END IF;
  a.behind_ms := a.behind_ms - v_last + p_now;
  a := (SELECT jsonb_populate_record(a, jsonb_object_agg(field, p_now + greatest(0, at - v_last)))
    FROM (SELECT field, (to_jsonb(a)->>field)::float8 AS at FROM unnest(ARRAY['confirmed_at',
      'answered_at', 'closed_at', 'next_probe_at', 'rests_until', 'next_since', 'reset_awaited_at',
      'turn_asked_at', 'tat', 'floor_until', 'look_tries_since', 'look_mark_at', 'spent_at', 'checked_at',
      'look_out_at']) field) dated
   WHERE at > p_now);
END $$;

CREATE FUNCTION brand_enrich.is_paused(p_owner text) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM brand_enrich.pause WHERE owner = p_owner)
$$;

CREATE FUNCTION brand_enrich.has_heartbeat(p_heartbeat_at bigint, p_now bigint) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT p_now - p_heartbeat_at < brand_enrich.run_dead_after_ms()
    AND p_heartbeat_at - p_now <= brand_enrich.run_heartbeat_ahead_ms()
$$;

CREATE FUNCTION brand_enrich.policy_of(p_account text, p_now bigint, OUT quota_cap bigint, OUT overage bigint)
LANGUAGE plpgsql AS $$
BEGIN
  SELECT min(r.quota_cap), coalesce(min(r.overage), 0) INTO quota_cap, overage FROM brand_enrich.run r
   WHERE r.account = p_account AND r.status = 'running' AND brand_enrich.has_heartbeat(r.heartbeat_at, p_now);
END $$;
