/** A host's accent colour, made legible on the page's grounds. */

type Rgb = [number, number, number]

const GROUNDS = { light: [255, 255, 255] as Rgb, dark: [22, 29, 27] as Rgb }
const LEGIBLE = 4.6

export function parseColour(text: string): Rgb | undefined {
  const hex = /^#?([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(text.trim())?.[1]
  if (!hex) return undefined
  const whole = hex.length === 3 ? hex.replace(/./g, '$&$&') : hex
  return [0, 2, 4].map((at) => Number.parseInt(whole.slice(at, at + 2), 16)) as Rgb
}

function luminance(colour: Rgb): number {
  const [red, green, blue] = colour.map((value) => {
    const part = value / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  }) as Rgb
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** WCAG's contrast ratio: 1 to 21. */
export function contrast(one: Rgb, other: Rgb): number {
  const [light, dark] = [luminance(one), luminance(other)].toSorted((a, b) => b - a) as [
    number,
    number,
  ]
  return (light + 0.05) / (dark + 0.05)
}

const mixed = (from: Rgb, to: Rgb, share: number): Rgb =>
  from.map((value, index) => Math.round(value + ((to[index] ?? 0) - value) * share)) as Rgb

const asText = ([red, green, blue]: Rgb) => `rgb(${red} ${green} ${blue})`

/** The accent for a scheme, as near to the wished colour as is legible, and what is written on it. */
export function accentFor(wished: string, scheme: 'light' | 'dark') {
  const colour = parseColour(wished)
  if (!colour) return undefined
  const ground = GROUNDS[scheme]
  const away: Rgb = scheme === 'light' ? [0, 0, 0] : [255, 255, 255]
  let accent = colour
  for (let share = 0; share <= 1 && contrast(accent, ground) < LEGIBLE; share += 0.05) {
    accent = mixed(colour, away, share)
  }
  const onAccent: Rgb = contrast(accent, [255, 255, 255]) >= 4.5 ? [255, 255, 255] : [10, 14, 20]
  return {
    accent: asText(accent),
    onAccent: asText(onAccent),
    soft: asText(mixed(ground, accent, scheme === 'light' ? 0.1 : 0.2)),
  }
}
