// Does something after a pause as long as the user's, give or take a fifth.
function later(seconds, act) {
  setTimeout(act, seconds * 1000 * PACE * (0.8 + 0.4 * Math.random()));
}
