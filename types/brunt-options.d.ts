/** Types of the options of a script, those that only Brunt has included. There is nothing to import but types. */
declare module 'brunt/options' {
  import * as k6 from 'k6/options';

  export type Scenario = k6.Scenario | k6.RateFileScenario | k6.ExternallyControlledScenario;

  export interface Options extends Omit<k6.Options, 'scenarios'> {
    scenarios?: { [name: string]: Scenario };
  }

  export type Arrivals = k6.Arrivals;
  export type Duration = k6.Duration;
  export type ExternallyControlledScenario = k6.ExternallyControlledScenario;
  export type ObjectThreshold = k6.ObjectThreshold;
  export type RateFileScenario = k6.RateFileScenario;
  export type Sine = k6.Sine;
  export type Stage = k6.Stage;
  export type Threshold = k6.Threshold;
}
