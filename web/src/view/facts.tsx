/** Names and values, one beside the other; those without a value are left out. */
export function Facts({ all }: { all: [string, string][] }) {
  return (
    <dl class="facts">
      {all
        .filter(([, value]) => value)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
