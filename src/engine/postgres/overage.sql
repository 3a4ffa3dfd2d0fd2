-- Which requests are overage: those beyond the quota by their own header, or in the period that they
-- are billed in when they are settled. It is never booked again. Caps count those that may be, in
-- either of two periods while one follows the other, so that they are never passed.

-- Books which of the requests that were just closed are overage. p_before: the account after closing
-- them and before the reading. p_is_probe_within: a request beyond the limit was answered with a
-- usage below the quota.
CREATE FUNCTION brand_enrich.book_overage(
  a brand_enrich.account, p_before brand_enrich.account, p_quota bigint, p_billed brand_enrich.billed[],
  p_is_probe_within boolean
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_this bigint; v_most bigint; v_runs text[]; v_generations text[];
BEGIN
  IF p_billed IS NULL THEN RETURN; END IF;
  IF brand_enrich.is_later(a.period, p_before.period) THEN a := p_before; END IF;
  v_this := a.sent - a.next_dated - a.early + a.others;
  v_most := greatest(a.sent + a.others, a.next_sent + a.next_dated);
  -- Nearly always: all of them are in this period, and within the quota.
  IF v_most <= p_quota AND NOT EXISTS (SELECT FROM unnest(p_billed) WHERE is_beyond OR period = 'last') THEN
    RETURN; END IF;
  WITH placed AS (
    -- The last of its kind stands where the account does.
    SELECT u.*, v_most - count(*) OVER (ORDER BY u.ord DESC) + 1 AS most,
      CASE u.period WHEN 'this' THEN v_this WHEN 'next' THEN a.next_dated END
        - count(*) OVER (PARTITION BY u.period ORDER BY u.ord DESC) + 1 AS place
      FROM unnest(p_billed) WITH ORDINALITY u(run, generation, period, is_beyond, ord)
  )
  SELECT array_agg(run) FILTER (WHERE is_beyond OR NOT p_is_probe_within AND place > p_quota),
         array_agg(generation) FILTER (WHERE is_beyond
           OR NOT p_is_probe_within AND (period = 'last' OR place > p_quota OR most > p_quota))
    INTO v_runs, v_generations FROM placed;
  UPDATE brand_enrich.generation g SET overage_requests = g.overage_requests + f.requests
    FROM (SELECT u.id, count(*) AS requests FROM unnest(v_generations) u(id) GROUP BY u.id ORDER BY u.id) f
   WHERE g.id = f.id;
  UPDATE brand_enrich.run_spending r SET overage_billed = r.overage_billed + f.requests
    FROM (SELECT u.run, count(*) AS requests FROM unnest(v_runs) u(run) GROUP BY u.run) f WHERE r.run = f.run;
END $$;
