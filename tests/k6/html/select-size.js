// The size of a select depends on `multiple` alone
import { parseHTML } from 'k6/html';
export default function () {
  for (const attributes of ['', 'size=3', 'multiple', 'size=3 multiple', 'size=0', 'size=x multiple']) {
    console.log(attributes, parseHTML(`<select ${attributes}>`).find('select').get(0).size());
  }
}
