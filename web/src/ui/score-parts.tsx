/** The parts of a score: a bar whose lengths add up to the score, and the figures beside it. */
export function ScoreParts({ parts }: { parts: Readonly<Record<string, number>> | undefined }) {
  if (parts === undefined) return null;
  const entries = Object.entries(parts);
  return (
    <span className="parts" title={entries.map(([name, value]) => `${name} ${value.toFixed(3)}`).join(', ')}>
      <span className="parts-bar" aria-hidden="true">
        {entries.map(([name, value]) => (
          <span key={name} style={{ width: `${Math.max(0, value) * 100}%` }} />
        ))}
      </span>
      <span className="parts-figures">
        {entries.map(([name, value]) => (
          <span key={name}>
            {name} {value.toFixed(2)}
          </span>
        ))}
      </span>
    </span>
  );
}
