//! Which variant runs, and why not a faster one.

use std::collections::HashMap;
use std::sync::Mutex;

use crate::device::Gpu;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::gate;
use crate::operation::{Call, Variant};
use crate::plan::{Plan, Prepared};

/// What a caller wants of the choice of variants.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Policy {
    /// Only this variant: anything else is an error.
    pub forced: Option<Variant>,
    /// Never these.
    pub forbidden: Vec<Variant>,
    /// Falling back to the CPU is an error.
    pub require_gpu: bool,
}

impl Policy {
    /// The policy that the environment states: `PORTCULLIS_VARIANT` forces one,
    /// `PORTCULLIS_FORBID` (names with commas) forbids some, `PORTCULLIS_REQUIRE_GPU=1` requires a GPU.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a name that no variant has.
    pub fn from_environment() -> Result<Policy> {
        let variable = |name: &str| std::env::var(name).ok().filter(|v| !v.trim().is_empty());
        let parse = |name: &str, text: &str| {
            Variant::parse(text.trim()).ok_or_else(|| Error::Parameter {
                operation: "policy".into(),
                parameter: name.into(),
                problem: format!(
                    "`{}` is not a variant; there are matrix, subgroup, portable, cpu",
                    text.trim()
                ),
            })
        };
        let forced = variable("PORTCULLIS_VARIANT")
            .map(|v| parse("PORTCULLIS_VARIANT", &v))
            .transpose()?;
        let forbidden = match variable("PORTCULLIS_FORBID") {
            Some(list) => list
                .split(',')
                .map(|v| parse("PORTCULLIS_FORBID", v))
                .collect::<Result<_>>()?,
            None => Vec::new(),
        };
        let require_gpu = variable("PORTCULLIS_REQUIRE_GPU").is_some_and(|v| v != "0");
        Ok(Policy {
            forced,
            forbidden,
            require_gpu,
        })
    }

    /// Only `variant`.
    pub fn force(variant: Variant) -> Policy {
        Policy {
            forced: Some(variant),
            ..Policy::default()
        }
    }

    /// Why this policy rules `variant` out, if it does.
    fn objection(&self, variant: Variant) -> Option<String> {
        if let Some(forced) = self.forced.filter(|f| *f != variant) {
            return Some(format!("the policy forces `{forced}`"));
        }
        if self.forbidden.contains(&variant) {
            return Some("the policy forbids it".into());
        }
        (variant == Variant::Cpu && self.require_gpu).then(|| "the policy requires a GPU".into())
    }
}

/// A variant that was considered and not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// The variant.
    pub variant: Variant,
    /// Why it was not used.
    pub reason: String,
}

/// Which variant runs a call, and why not a faster one.
#[derive(Clone)]
pub struct Decision {
    /// The variant.
    pub variant: Variant,
    /// Faster variants, and what stood against each.
    pub rejected: Vec<Rejection>,
    /// The prepared plan; `None` on the CPU.
    pub prepared: Option<Prepared>,
}

impl std::fmt::Debug for Decision {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}

impl std::fmt::Display for Decision {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.variant.name())?;
        for Rejection { variant, reason } in &self.rejected {
            write!(f, "; not {variant}: {reason}")?;
        }
        Ok(())
    }
}

/// Decisions taken, by policy and call.
#[derive(Default)]
pub(crate) struct Decisions(Mutex<HashMap<Policy, HashMap<Call, Decision>>>);

impl Decisions {
    fn get(&self, call: &Call, policy: &Policy) -> Option<Decision> {
        crate::device::lock(&self.0).get(policy)?.get(call).cloned()
    }

    fn insert(&self, call: &Call, policy: &Policy, decision: &Decision) {
        let mut decisions = crate::device::lock(&self.0);
        decisions
            .entry(policy.clone())
            .or_default()
            .insert(call.clone(), decision.clone());
    }
}

/// The operation's name, the main input's dtype, the variant.
type ProbeKey = (&'static str, DType, Variant);

/// Outcomes of probes, by operation, dtype and variant: `None` for one that
/// passed, the failure otherwise.
#[derive(Default)]
pub(crate) struct Probes {
    outcomes: Mutex<HashMap<ProbeKey, Option<String>>>,
    /// Changes plans before they are probed and run: how tests inject a wrong variant.
    mutation: Mutex<Option<Mutation>>,
}

/// A change to plans, for tests.
pub(crate) type Mutation = std::sync::Arc<dyn Fn(&mut Plan) + Send + Sync>;

impl Gpu {
    /// Applies `mutation` to every plan of this device from now on: the way to
    /// show that a wrong variant is demoted by its probe.
    #[doc(hidden)]
    pub fn inject(&self, mutation: impl Fn(&mut Plan) + Send + Sync + 'static) {
        *crate::device::lock(&self.probes().mutation) = Some(std::sync::Arc::new(mutation));
    }

    /// Plans `call` by `variant`. Pure, but for mutations that tests inject.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the variant cannot run here, [`Error::Limit`] beyond a limit.
    pub fn plan(&self, call: &Call, variant: Variant) -> Result<Plan> {
        let signature = call.operation.signature();
        if !signature.variants.contains(&variant) || variant == Variant::Cpu {
            return Err(Error::Unavailable {
                operation: signature.name.into(),
                reason: format!("there is no `{variant}` kernel of this operation"),
            });
        }
        let mut plan = call.operation.plan(call, variant, self.capabilities())?;
        let mutation = crate::device::lock(&self.probes().mutation).clone();
        if let Some(mutate) = mutation {
            mutate(&mut plan);
        }
        Ok(plan)
    }

    /// Links, compiles and probes what `call` needs, submitting only work of
    /// its own, and says which variant will run. Remembered: the second time costs a look-up.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the policy leaves no variant; [`Error::DeviceLost`].
    pub async fn prepare(&self, call: &Call, policy: &Policy) -> Result<Decision> {
        self.decide(call, policy, true).await
    }

    /// As [`Gpu::prepare`], but without probing: variants not probed before are not used.
    pub(crate) async fn decide(
        &self,
        call: &Call,
        policy: &Policy,
        may_probe: bool,
    ) -> Result<Decision> {
        if let Some(decision) = self.decisions().get(call, policy) {
            return Ok(decision);
        }
        let signature = call.operation.signature();
        let mut rejected = Vec::new();
        let mut provisional = false;
        for &variant in signature.variants {
            let reason = match policy.objection(variant) {
                Some(reason) => reason,
                None if variant == Variant::Cpu => {
                    let decision = Decision {
                        variant,
                        rejected,
                        prepared: None,
                    };
                    self.decisions().insert(call, policy, &decision);
                    return Ok(decision);
                }
                None => match self.try_variant(call, variant, may_probe).await {
                    Ok(prepared) => {
                        let decision = Decision {
                            variant,
                            rejected,
                            prepared: Some(prepared),
                        };
                        if !provisional {
                            self.decisions().insert(call, policy, &decision);
                        }
                        return Ok(decision);
                    }
                    Err(Attempt::Unprobed) => {
                        provisional = true;
                        "not probed yet; `prepare` does it".into()
                    }
                    Err(Attempt::Failed(
                        error @ (Error::DeviceLost(_) | Error::OutOfMemory { .. }),
                    )) => {
                        return Err(error);
                    }
                    Err(Attempt::Failed(Error::Unavailable { reason, .. })) => reason,
                    Err(Attempt::Failed(error)) => error.to_string(),
                },
            };
            rejected.push(Rejection { variant, reason });
        }
        let reasons: Vec<String> = rejected
            .iter()
            .map(|r| format!("{}: {}", r.variant, r.reason))
            .collect();
        Err(Error::Unavailable {
            operation: signature.name.into(),
            reason: format!(
                "no variant can run on {} ({})",
                self.capabilities().identity,
                reasons.join("; ")
            ),
        })
    }

    async fn try_variant(
        &self,
        call: &Call,
        variant: Variant,
        may_probe: bool,
    ) -> Result<Prepared, Attempt> {
        let plan = self.plan(call, variant)?;
        if variant < Variant::Portable {
            match self.probe_outcome(call, variant) {
                Some(None) => {}
                Some(Some(failure)) => return Err(failed_probe(call, failure)),
                None if !may_probe => return Err(Attempt::Unprobed),
                None => {
                    if let Some(failure) = self.probe(call, variant).await? {
                        return Err(failed_probe(call, failure));
                    }
                }
            }
        }
        let prepared = Prepared::new(self, plan)?;
        if may_probe {
            self.settle().await?;
        }
        Ok(prepared)
    }

    fn probe_outcome(&self, call: &Call, variant: Variant) -> Option<Option<String>> {
        let key = (call.name(), call.input(0).dtype, variant);
        crate::device::lock(&self.probes().outcomes)
            .get(&key)
            .cloned()
    }

    /// Runs the variant's probe problems against the oracle; the failure, if any.
    async fn probe(&self, call: &Call, variant: Variant) -> Result<Option<String>> {
        let start = crate::device::now();
        let dtype = call.input(0).dtype;
        let failure = gate::probe(self, call.operation, dtype, variant).await?;
        crate::device::lock(&self.probes().outcomes)
            .insert((call.name(), dtype, variant), failure.clone());
        self.report_probing(crate::device::elapsed(start));
        Ok(failure)
    }
}

/// Why a variant was not taken.
enum Attempt {
    Unprobed,
    Failed(Error),
}

impl From<Error> for Attempt {
    fn from(error: Error) -> Attempt {
        Attempt::Failed(error)
    }
}

fn failed_probe(call: &Call, failure: String) -> Attempt {
    Attempt::Failed(Error::Unavailable {
        operation: call.name().into(),
        reason: format!("failed its probe: {failure}"),
    })
}
