const counts = new Intl.NumberFormat("en");
export const count = (n: number) => counts.format(n);
export const plural = (n: number, one: string, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

export function bytes(n: number): string {
  if (n < 1000) return `${n} B`;
  for (const [unit, size] of [["GB", 1e9], ["MB", 1e6], ["KB", 1e3]] as const) {
    if (n >= size * 0.9995) return `${(n / size).toPrecision(n / size >= 100 ? 3 : 2).replace(/e\+\d+$/, "")} ${unit}`.replace(/^(\d+)\.0 /, "$1 ");
  }
  return `${n} B`;
}
export const units = (n: number) => counts.format(Math.round(n * 100) / 100);
export const when = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 19).replace("T", " ");

// Runs `work` for all, a few at a time, and hands each result over when it is there.
export async function each<T>(all: readonly T[], atOnce: number, work: (one: T, index: number) => Promise<void>): Promise<void> {
  let next = 0;
  await Promise.all(Array.from({ length: Math.min(atOnce, all.length) }, async () => {
    while (next < all.length) {
      const index = next++;
      await work(all[index]!, index);
    }
  }));
}
export const newId = () => Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => "abcdefghijklmnopqrstuvwxyz012345"[byte % 32]).join("");
