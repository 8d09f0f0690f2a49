// Which lines of a text differ from another one: those outside the longest common subsequence of both.

const MAX_CELLS = 4_000_000; // a longer middle counts as changed

/** The indexes of the lines of `after` that are new or changed against `before`. */
export function changedLines(before, after) {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  const shorter = Math.min(before.length, after.length) - start;
  while (end < shorter && before.at(-1 - end) === after.at(-1 - end)) end++;
  const old = before.slice(start, before.length - end);
  const now = after.slice(start, after.length - end);
  const kept = old.length * now.length > MAX_CELLS ? new Set() : commonLines(old, now);
  return new Set([...now.keys()].filter((index) => !kept.has(index)).map((index) => start + index));
}

/** The indexes in `now` of a longest common subsequence of both. */
function commonLines(old, now) {
  const lengths = Array.from({ length: old.length + 1 }, () => new Uint16Array(now.length + 1));
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      lengths[i][j] = old[i] === now[j] ? lengths[i + 1][j + 1] + 1 : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
    }
  }
  const common = new Set();
  for (let i = 0, j = 0; i < old.length && j < now.length; ) {
    if (old[i] === now[j]) {
      common.add(j);
      i++;
      j++;
    } else if (lengths[i + 1][j] >= lengths[i][j + 1]) i++;
    else j++;
  }
  return common;
}
