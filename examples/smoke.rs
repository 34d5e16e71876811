use portcullis::{gate, *};
fn main() {
    let filter = std::env::args().nth(1).unwrap_or_default();
    let effort = if std::env::args().any(|a| a == "--standard") {
        gate::Effort::Standard
    } else {
        gate::Effort::Quick
    };
    let effort = if std::env::args().any(|a| a == "--full") {
        gate::Effort::Full
    } else {
        effort
    };
    let only = std::env::var("ADAPTER").unwrap_or_default();
    let adapters = pollster::block_on(device::enumerate());
    let mut bad = 0;
    let mut n = 0;
    let gpus: Vec<Gpu> = adapters
        .iter()
        .filter(|a| a.identity.to_string().contains(&only))
        .map(|a| pollster::block_on(Gpu::from_adapter(&a.adapter)).unwrap())
        .collect();
    for g in &gpus {
        println!("{:?} {:?}", g, g.capabilities().subgroups);
    }
    for &op in registry::OPERATIONS.iter() {
        if !op.signature().name.contains(&filter) {
            continue;
        }
        for &dtype in op.signature().dtypes {
            for problem in op.problems(dtype, effort) {
                let instance = match problem.build(op, dtype) {
                    Ok(i) => i,
                    Err(e) => {
                        println!("BUILD {} {}: {e}", op.signature().name, problem.name);
                        bad += 1;
                        continue;
                    }
                };
                let mut rows = vec![gate::check_on_cpu(&instance)];
                for gpu in &gpus {
                    for &v in op.signature().variants {
                        if v != Variant::Cpu {
                            let t = std::time::Instant::now();
                            rows.push(
                                pollster::block_on(gate::check_on_gpu(gpu, &instance, v)).unwrap(),
                            );
                            if t.elapsed().as_millis() > 2000 || std::env::var("T").is_ok() {
                                println!(
                                    "time {:?} {} {} {} {:?}",
                                    t.elapsed(),
                                    op.signature().name,
                                    instance.name,
                                    v,
                                    gpu.prepared_report()
                                );
                            }
                        }
                    }
                }
                for r in rows {
                    n += 1;
                    if !matches!(r.status, gate::Status::Pass | gate::Status::Unsupported)
                        || std::env::var("V").is_ok()
                    {
                        if r.status != gate::Status::Pass && r.status != gate::Status::Unsupported {
                            bad += 1;
                        }
                        println!(
                            "{} [{}] {} {} {} {:?} ratio {:.3} {}",
                            r.op,
                            r.case,
                            r.dtype,
                            r.adapter,
                            r.variant,
                            r.status,
                            r.bound_ratio,
                            r.note.lines().take(12).collect::<Vec<_>>().join("\n   ")
                        );
                    }
                }
            }
        }
    }
    println!("{n} rows, {bad} bad");
}
