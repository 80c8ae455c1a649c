/// Nothing but what needs somebody: a job that does not go on by itself, a service that does not come back.
struct SilentReport: WatchReport {
    let console: Console

    func told(_ change: JobTracker.Change?) {
        switch change {
        case .added(let job), .moved(let job):
            guard let neededAction = JobDescription.neededAction(job) else { return }
            console.warn("Somebody is needed", neededAction)
        case .remarked, .deleted, nil: break
        }
    }

    func remarked(_ sentence: String) {}

    func missed(_ error: ClientError) {
        console.warn("fetchd cannot be reached", "\(error.sentence) Still waiting for it.")
    }
}
