import './catches.js';
import './catches-whole.js';
throw new Error('on purpose');
