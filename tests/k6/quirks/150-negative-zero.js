// 150: negative zero
export default function () { console.log(-0, [-0], { a: -0 }, Object.is(-0, JSON.parse('-0')), JSON.stringify(-0), `${-0}`); }
