
// Version 0.0.4: no class names, two spaces more at the beginning of each line.
Object.assign(dialect.junit, {
  hasClassname: false,
  head: '\n      ',
  before: '\n        ',
  within: '\n          ',
  after: '\n        </testsuite>\n      </testsuites>',
});
