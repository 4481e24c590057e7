// The FormData library, natively.
import { FormData } from 'k6/jslib/formdata/0.0.1';

export { FormData };
export default { FormData };
