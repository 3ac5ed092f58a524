/** One of a few, side by side. */
export const Segments = <Name extends string>({
  label,
  names,
  chosen,
  onChosen,
}: {
  label: string
  names: Readonly<Record<Name, string>>
  chosen: Name
  onChosen: (name: Name) => void
}) => (
  <div class="segments" role="group" aria-label={label}>
    {(Object.entries(names) as [Name, string][]).map(([name, text]) => (
      <button
        key={name}
        type="button"
        aria-pressed={name === chosen}
        onClick={() => onChosen(name)}
      >
        {text}
      </button>
    ))}
  </div>
)
