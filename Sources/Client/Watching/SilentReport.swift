/// Reports only problems that need an action of the user: a job that cannot continue automatically, or a service that stays
/// unavailable.
struct SilentReport: WatchReport {
    let console: Console

    func told(_ change: JobTracker.Change?) {
        switch change {
        case .added(let job), .moved(let job):
            guard let neededAction = JobDescription.neededAction(job) else { return }
            console.warn("Action required", neededAction)
        case .remarked, .deleted, nil: break
        }
    }

    func remarked(_ sentence: String) {}

    func missed(_ error: ClientError) {
        console.warn("fetchd cannot be reached", "\(error.sentence) Still waiting for it.")
    }
}
