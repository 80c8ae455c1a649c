/// Reports only problems that need an action of the user: a job that cannot continue automatically, or a service that stays
/// unavailable.
struct SilentReport: WatchReport {
    let console: Console

    func told(_ change: JobBoard.Change?) {
        switch change {
        case .added(let job), .moved(let job):
            guard let plea = JobWords.plea(job) else { return }
            console.warn("Action required", plea)
        case .remarked, .deleted, nil: break
        }
    }

    func remarked(_ sentence: String) {}

    func missed(_ error: ClientError) {
        console.warn("fetchd cannot be reached", "\(error.sentence) Still waiting for it.")
    }
}
