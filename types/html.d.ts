/** Additions to `k6/html`: more steps between selections, and the methods of each kind of element, which `@types/k6` lacks. */

import 'k6/html';

declare module 'k6/html' {
  interface Selection {
    /** The address of the page, from which those of its links count. */
    url: string;
    /** These nodes and those that a selector finds in the document. */
    add(selector: string | Selection | Element): Selection;
    /** The selection before the last step; it goes back at most 256 steps. */
    end(): Selection;
    /** The place of the first node among its siblings, or of what is given; -1 if it is not there. */
    index(selector?: string | Selection | Element): number;
    siblings(selector?: string): Selection;
    /** The first node that a selector finds. */
    single(selector: string): Selection;
    /**
     * A node as an element; `undefined` if there is no such node.
     * @template E - The kind of element that the script expects.
     */
    get<E extends Element = Element>(index: number): E | undefined;
    /** All nodes as elements. */
    get<E extends Element = Element>(): E[];
  }

  interface HrefElement {
    href(): string;
  }

  interface Element {
    /** The element as a selection. */
    selection(): Selection;
  }

  interface AnchorElement {
    accessKey(): string;
    download(): string;
    hrefLang(): string;
    referrerPolicy(): string;
    rel(): string;
    target(): string;
    type(): string;
  }

  interface AreaElement {
    accessKey(): string;
    download(): string;
    hrefLang(): string;
    referrerPolicy(): string;
    rel(): string;
    target(): string;
    type(): string;
  }

  interface AudioElement {
    autoplay(): boolean;
    controls(): boolean;
    crossOrigin(): string | undefined;
    currentSrc(): string;
    defaultMuted(): boolean;
    loop(): boolean;
    mediaGroup(): string;
    muted(): boolean;
    preload(): string;
    src(): string;
  }

  interface BaseElement {
    href(): string;
    target(): string;
  }

  interface ButtonElement {
    accessKey(): string;
    autofocus(): boolean;
    disabled(): boolean;
    tabIndex(): number;
    type(): string;
  }

  interface DataElement {
    value(): string;
  }

  interface DelElement {
    cite(): string;
    datetime(): string;
  }

  interface EmbedElement {
    height(): string;
    src(): string;
    type(): string;
    width(): string;
  }

  interface FieldSetElement {
    disabled(): boolean;
    name(): string;
  }

  interface FormElement {
    acceptCharset(): string;
    action(): string;
    autocomplete(): string;
    encoding(): string;
    enctype(): string;
    name(): string;
    noValidate(): boolean;
    target(): string;
  }

  interface IFrameElement {
    allowfullscreen(): boolean;
    height(): string;
    name(): string;
    referrerPolicy(): string;
    src(): string;
    width(): string;
  }

  interface ImageElement {
    alt(): string;
    crossOrigin(): string | undefined;
    currentSrc(): string;
    height(): number;
    isMap(): boolean;
    name(): string;
    referrerPolicy(): string;
    sizes(): string;
    src(): string;
    srcset(): string;
    useMap(): string;
    width(): number;
  }

  interface InputElement {
    accept(): string;
    accessKey(): string;
    alt(): string;
    autocomplete(): string;
    autofocus(): boolean;
    checked(): boolean;
    defaultChecked(): boolean;
    defaultValue(): string;
    dirName(): string;
    disabled(): boolean;
    height(): string;
    list(): DataListElement | undefined;
    max(): string;
    maxLength(): number;
    min(): string;
    multiple(): boolean;
    pattern(): string;
    placeholder(): string;
    readonly(): boolean;
    required(): boolean;
    size(): number;
    src(): string;
    step(): string;
    tabIndex(): number;
    type(): string;
    value(): string;
    width(): string;
  }

  interface KeygenElement {
    autofocus(): boolean;
    challenge(): string;
    disabled(): boolean;
    keytype(): string;
    name(): string;
    type(): string;
  }

  interface LabelElement {
    htmlFor(): string;
  }

  interface LegendElement {
    accessKey(): string;
  }

  interface LiElement {
    type(): string;
    value(): number;
  }

  interface LinkElement {
    crossOrigin(): string | undefined;
    href(): string;
    hreflang(): string;
    media(): string;
    referrerPolicy(): string;
    rel(): string;
    target(): string;
    type(): string;
  }

  interface MapElement {
    name(): string;
  }

  interface MetaElement {
    content(): string;
    httpEquiv(): string;
    name(): string;
  }

  interface MeterElement {
    high(): number;
    low(): number;
    max(): number;
    min(): number;
    optimum(): number;
  }

  interface OListElement {
    reversed(): boolean;
    start(): number;
    type(): string;
  }

  interface ObjectElement {
    data(): string;
    height(): string;
    name(): string;
    tabIndex(): number;
    type(): string;
    typeMustMatch(): boolean;
    useMap(): string;
    width(): string;
  }

  interface OptGroupElement {
    disabled(): boolean;
    label(): string;
  }

  interface OptionElement {
    defaultSelected(): boolean;
    selected(): boolean;
  }

  interface OutputElement {
    htmlFor(): string;
    name(): string;
    type(): string;
  }

  interface ParamElement {
    name(): string;
    value(): string;
  }

  interface PreElement {
    name(): string;
    value(): string;
  }

  interface ScriptElement {
    async(): boolean;
    charset(): string;
    crossOrigin(): string;
    defer(): boolean;
    noModule(): boolean;
    src(): string;
    type(): string;
  }

  interface SelectElement {
    autofocus(): boolean;
    disabled(): boolean;
    multiple(): boolean;
    name(): string;
    required(): boolean;
    tabIndex(): number;
  }

  interface SourceElement {
    keySystem(): string;
    media(): string;
    sizes(): string;
    src(): string;
    srcset(): string;
    type(): string;
  }

  interface StyleElement {
    media(): string;
  }

  interface TableDataCellElement {
    colSpan(): number;
    headers(): string;
    rowSpan(): number;
  }

  interface TableElement {
    sortable(): boolean;
  }

  interface TableHeaderCellElement {
    abbr(): string;
    colSpan(): number;
    headers(): string;
    rowSpan(): number;
    scope(): string;
    sorted(): boolean;
  }

  interface TextAreaElement {
    accessKey(): string;
    autocapitalize(): string;
    autocomplete(): string;
    cols(): number;
    defaultValue(): string;
    maxLength(): number;
    placeholder(): string;
    readOnly(): boolean;
    required(): boolean;
    rows(): number;
    tabIndex(): number;
    type(): string;
    value(): string;
    wrap(): string;
  }

  interface TimeElement {
    datetime(): string;
  }

  interface TrackElement {
    default(): boolean;
    kind(): string;
    label(): string;
    src(): string;
    srclang(): string;
  }

  interface UListElement {
    type(): string;
  }

  interface VideoElement {
    autoplay(): boolean;
    controls(): boolean;
    crossOrigin(): string | undefined;
    currentSrc(): string;
    defaultMuted(): boolean;
    loop(): boolean;
    mediaGroup(): string;
    muted(): boolean;
    preload(): string;
    src(): string;
  }
}
