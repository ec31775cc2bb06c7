// Types of the model everything.  Made by `stator model types --language typescript`.

/** A place with books. */
export interface Library {
  readonly keeper: string;
  readonly library: string;
  /** As it stands over the door. */
  name: string;
  code?: string;
  street?: string;
  town?: string;
  rules?: string;
  open: boolean;
  seats?: number;
  desks?: number;
  readonly lamp?: string;
  readonly books: number;
  readonly cards: number;
  readonly lastNumber: number;
  readonly pages: number;
  readonly thickness?: number;
  readonly added: string;
  readonly changed: string;
  readonly closed?: boolean;
  readonly closedAt?: string;
  readonly moving?: boolean;
  /** Where it is. */
  address?: { city: string; zip?: string; floors?: Array<number> };
  rooms?: Array<string>;
  tags?: Array<string>;
  site?: string;
  page?: string;
  mail?: string;
  photo?: string;
  extra?: unknown;
  times?: Record<string, unknown>;
  remarks?: Array<unknown>;
  readonly Kind: "LIBRARY";
  readonly Revision: number;
}

/** The input of a create. */
export interface LibraryCreate {
  /** As it stands over the door. */
  name: string;
  code?: string;
  street?: string;
  town?: string;
  rules?: string;
  open?: boolean;
  seats?: number;
  desks?: number;
  secret?: string;
  password?: string;
  /** Where it is. */
  address?: { city: string; zip?: string; floors?: Array<number> };
  rooms?: Array<string>;
  tags?: Array<string>;
  site?: string;
  page?: string;
  mail?: string;
  photo?: string;
  extra?: unknown;
  times?: Record<string, unknown>;
  remarks?: Array<unknown>;
  keeper?: string;
}

/** The input of a patch: absent keeps, null clears. */
export interface LibraryPatch {
  /** As it stands over the door. */
  name?: string;
  street?: string | null;
  town?: string | null;
  rules?: string | null;
  open?: boolean | null;
  seats?: number | null;
  desks?: number | null;
  secret?: string | null;
  password?: string | null;
  /** Where it is. */
  address?: { city: string; zip?: string; floors?: Array<number> } | null;
  rooms?: Array<string> | null;
  tags?: Array<string> | null;
  site?: string | null;
  page?: string | null;
  mail?: string | null;
  photo?: string | null;
  extra?: unknown | null;
  times?: Record<string, unknown> | null;
  remarks?: Array<unknown> | null;
}

/** Lets somebody in. */
export interface Card {
  readonly reader: string;
  keeper: string;
  library: string;
  readonly Kind: "CARD";
}

/** The input of a put: absent keeps, null clears; a new one needs all required attributes. */
export interface CardPut {
  reader?: string;
}

/** A book. */
export interface Item {
  readonly keeper: string;
  library: string;
  readonly item: string;
  title: string;
  readonly branch: string;
  state: "new" | "worn";
  year?: number;
  pages?: number;
  isbn?: string;
  onShelf?: string;
  place?: number;
  readonly number: number;
  readonly reader?: string;
  readonly until?: string;
  readonly added: string;
  readonly Kind: "ITEM";
  readonly Revision: number;
}

/** The input of a create. */
export interface ItemCreate {
  title: string;
  state?: "new" | "worn";
  year?: number;
  pages?: number;
  isbn?: string;
  onShelf?: string;
  place?: number;
  keeper?: string;
}

/** The input of a patch: absent keeps, null clears. */
export interface ItemPatch {
  title?: string;
  state?: "new" | "worn" | null;
  year?: number | null;
  pages?: number | null;
  isbn?: string | null;
  onShelf?: string | null;
  place?: number | null;
}

export interface Shelf {
  keeper: string;
  readonly shelf: string;
  readonly Kind: "SHELF";
  readonly Revision: number;
}

export interface Event {
  keeper?: string;
  library?: string;
  item: string;
  readonly event: string;
  readonly at: string;
  what?: string;
  count?: number;
  readonly Kind: "EVENT";
  readonly Revision: number;
}

/** A shelf from left to right. */
export interface OnShelfParameters {
  onShelf: string;
}

export interface OfYearParameters {
  /** How the title begins. */
  prefix: string;
  branch: string;
  state: "new" | "worn";
  year: number;
}

export interface HistoryParameters {
  month?: string;
  since?: string;
  until?: string;
  library: string;
  item: string;
}

export interface HomesParameters {
  low?: string;
  high?: string;
}

export interface ThickParameters {
  low?: string;
}

export interface ThickerParameters {
  low?: string;
}

export interface ThinParameters {
  high?: string;
}

export interface ThinnerParameters {
  high?: string;
}

export interface NestedParameters {
  library: string;
}

/** Takes a book out. */
export interface LendInput {
  /** Who takes it. */
  reader: string;
  until: string;
  library: string;
  item: string;
}

export interface StockInput {
  dry?: boolean;
  library: string;
}

export interface RenameInput {
  name: string;
  library: string;
}

export interface ClearInput {
  library: string;
}

export interface ListInput {
  library: string;
}

/** One page of a list. */
export interface Page<T> {
  items: T[];
  nextToken?: string;
}

/** The answer of `on_shelf`. */
export type OnShelfAnswer = Page<Item>;

/** The answer of `of_year`. */
export type OfYearAnswer = Page<(Partial<Item> & { house?: Pick<Library, "name" | "town" | "Kind" | "Revision"> })>;

/** The answer of `lent_to_me`. */
export type LentToMeAnswer = Page<Partial<Item>>;

/** The answer of `history`. */
export type HistoryAnswer = Event;
