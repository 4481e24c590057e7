// The FormData library, natively.
import { FormData } from 'k6/jslib/formdata';

export { FormData };
export default { FormData };
