export function read(name) { return open(name); }
