-- The key-value store, one function for each operation.

CREATE FUNCTION brand_enrich.put_note(p_offset bigint, p_scope text, p_name text, p_note text) RETURNS void
LANGUAGE sql AS $$
  INSERT INTO brand_enrich.note (scope, name, note, written_at)
  VALUES (p_scope, p_name, p_note, brand_enrich.now_ms(p_offset))
  ON CONFLICT (scope, name) DO UPDATE SET note = excluded.note, written_at = excluded.written_at
$$;

CREATE FUNCTION brand_enrich.list_notes(p_offset bigint, p_scope text) RETURNS jsonb LANGUAGE sql AS $$
  SELECT coalesce(jsonb_agg(jsonb_build_object('name', n.name, 'text', n.note,
      'ageMs', greatest(0, brand_enrich.now_ms(p_offset) - n.written_at))), '[]')
    FROM brand_enrich.note n WHERE n.scope = p_scope
$$;

CREATE FUNCTION brand_enrich.remove_note(p_offset bigint, p_scope text, p_name text, p_note text) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM brand_enrich.note WHERE scope = p_scope AND name = p_name AND (p_note IS NULL OR note = p_note);
  RETURN FOUND;
END $$;

CREATE FUNCTION brand_enrich.claim_note(p_offset bigint, p_scope text, p_name text, p_note text, p_dead_after bigint)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE v_now bigint := brand_enrich.now_ms(p_offset);
BEGIN
  INSERT INTO brand_enrich.note AS n (scope, name, note, written_at) VALUES (p_scope, p_name, p_note, v_now)
  ON CONFLICT (scope, name) DO UPDATE SET note = excluded.note, written_at = excluded.written_at
   WHERE n.note = p_note OR v_now - n.written_at > p_dead_after;
  RETURN FOUND;
END $$;
