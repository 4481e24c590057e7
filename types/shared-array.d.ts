/** Data that all VUs share. `@types/k6` takes an array of unknown type for an empty one. */
declare module 'k6/data' {
  /** An array of frozen elements, one copy of which serves all VUs. In init code only. */
  export const SharedArray: {
    /**
     * @param name - Each VU finds the array of the same name.
     * @param callback - Makes the array; it runs once.
     */
    new <T = any>(name: string, callback: () => readonly T[]): readonly T[];
  };

  export * as default from 'k6/data';
}
