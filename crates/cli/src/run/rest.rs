//! The REST API around a run: served from the start of the process, told of the run as soon as there is one.

use std::sync::Arc;

use brunt_engine::RunReport;

use super::plan::Outer;
use crate::{
    Context,
    api::{self, Api, Subject},
    exit::Exit,
    failure::{Failure, Outcome},
};

/// The API, if an address asks for it.
pub(crate) struct Rest(Option<Api>);

impl Rest {
    /// Takes the address and answers from now on. Where only a variable asks for it, the run goes on without.
    ///
    /// # Errors
    /// A flag asks for it, and the address can't be had (106).
    pub(crate) fn start(context: &Context, outer: &Outer) -> Outcome<Self> {
        let profiling = context.global.profiling;
        let Some(address) = &context.global.address else {
            if profiling {
                log::warn!(
                    "--profiling-enabled shows something only where --address serves the REST API"
                );
            }
            return Ok(Self(None));
        };
        match api::listen(&address.text) {
            Ok(listener) => {
                log::debug!(address = address.text.as_str(); "Serving the REST API");
                Ok(Self(Some(Api::serve(listener, outer.is_paused(), profiling)?)))
            }
            Err(error) if address.is_flag => {
                let told = format!("the REST API can't be served on {}: {error}", address.text);
                Err(Failure::new(Exit::ApiAddress, anyhow::Error::msg(told))
                    .hint("give --address a free port of this machine, such as 127.0.0.1:6565"))
            }
            Err(error) => {
                log::warn!(error = error.to_string().as_str(); "Error from API server");
                Ok(Self(None))
            }
        }
    }

    /// There is a run, which is not executed yet.
    pub(crate) fn begins(&self, run: Arc<dyn Subject>) {
        if let Some(api) = &self.0 {
            api.begins(run);
        } else if run.state().is_paused {
            log::warn!(
                "the test waits to be resumed, and there is no --address through which it could"
            );
        }
    }

    /// The run is over.
    pub(crate) fn ended(&self, report: &RunReport) {
        if let Some(api) = &self.0 {
            api.ended(report);
        }
    }
}
