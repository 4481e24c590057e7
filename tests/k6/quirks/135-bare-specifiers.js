// 135: a bare name is no module
import _ from 'lodash';
export default function () {}
