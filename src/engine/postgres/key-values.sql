CREATE FUNCTION brand_enrich.put_value(p_offset bigint, p_scope text, p_name text, p_value text) RETURNS void
LANGUAGE sql AS $$
  INSERT INTO brand_enrich.key_value (scope, name, value, written_at)
  VALUES (p_scope, p_name, p_value, brand_enrich.now_ms(p_offset))
  ON CONFLICT (scope, name) DO UPDATE SET value = excluded.value, written_at = excluded.written_at
$$;

CREATE FUNCTION brand_enrich.list_values(p_offset bigint, p_scope text) RETURNS jsonb LANGUAGE sql AS $$
  SELECT coalesce(jsonb_agg(jsonb_build_object('name', k.name, 'text', k.value,
      'ageMs', greatest(0, brand_enrich.now_ms(p_offset) - k.written_at))), '[]')
    FROM brand_enrich.key_value k WHERE k.scope = p_scope
$$;

CREATE FUNCTION brand_enrich.remove_value(p_offset bigint, p_scope text, p_name text, p_value text)
  RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM brand_enrich.key_value WHERE scope = p_scope AND name = p_name
    AND (p_value IS NULL OR value = p_value);
  RETURN FOUND;
END $$;

CREATE FUNCTION brand_enrich.claim_value(p_offset bigint, p_scope text, p_name text, p_value text,
  p_dead_after bigint)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE v_now bigint := brand_enrich.now_ms(p_offset);
BEGIN
  INSERT INTO brand_enrich.key_value AS k (scope, name, value, written_at)
    VALUES (p_scope, p_name, p_value, v_now)
  ON CONFLICT (scope, name) DO UPDATE SET value = excluded.value, written_at = excluded.written_at
   WHERE k.value = p_value OR v_now - k.written_at > p_dead_after;
  RETURN FOUND;
END $$;
