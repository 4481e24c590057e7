module.exports = { n: 40, list: [1, 2] };
