/// A line for each change of state: for logs, and wherever no cursor can be moved.
struct LineReport: WatchReport {
    let console: Console

    func told(_ change: JobBoard.Change?) throws {
        switch change {
        case .added(let job), .moved(let job):
            try console.say("\(job.id) \(Self.words(job))")
            if let advice = JobWords.advice(job) { try console.say("  \(advice)") }
        case .remarked(let job, let remark): try console.say("\(job.id) \(remark)")
        case .deleted(let job): try console.say("\(job.id) was deleted")
        case nil: break
        }
    }

    private static func words(_ job: JobDocument) -> String {
        job.hasEnded ? JobWords.ending(job) : "\(JobWords.state(job)): \(job.name)"
    }

    func remarked(_ sentence: String) throws { try console.say(sentence) }
    func ended() throws {}
}
