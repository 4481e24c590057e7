// Pauses as long as the user did, give or take a fifth.
function think(seconds) {
  sleep(seconds * PACE * (0.8 + 0.4 * Math.random()));
}
