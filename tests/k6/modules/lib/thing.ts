export interface Thing { label?: string }
export function make(label: string): Thing { return { label }; }
