
// Version 0.0.3: failures say one value.
const oneValue = {
  counter: ({ count }) => `count: ${count}`,
  gauge: ({ value }) => `value: ${value}`,
  rate: ({ fails }) => `number of fails: ${fails}`,
  trend: ({ med }) => `mean value: ${med}`,
};
Object.assign(dialect.junit, {
  hasClassname: false,
  head: '\n',
  before: '\n',
  within: '',
  after: '\n</testsuite >\n</testsuites >',
  failure: ({ type, values }) => `<failure message="failed, ${oneValue[type](values)}"/>`,
});
