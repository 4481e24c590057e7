import './catches.js';
import '../commonjs-required-throws.js';
export const whole = 'whole';
