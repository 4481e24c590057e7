// The fields of a form but for these.
function without(fields, ...names) {
  const rest = { ...fields };
  names.forEach((name) => delete rest[name]);
  return rest;
}
