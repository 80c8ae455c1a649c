/// A line for each change of state: for logs, and wherever no cursor can be moved.
struct LineReport: WatchReport {
    let console: Console

    func told(_ change: JobTracker.Change?) {
        switch change {
        case .added(let job), .moved(let job):
            console.say("\(job.id) \(JobDescription.line(job))")
            if let advice = JobDescription.adviceOnTheWay(job) { console.say("  \(advice)") }
        case .remarked(let job, let remark): console.say("\(job.id) \(remark)")
        case .deleted(let job): console.say("\(job.id) was deleted: \(job.name)")
        case nil: break
        }
    }

    func remarked(_ sentence: String) { console.say(sentence) }
}
