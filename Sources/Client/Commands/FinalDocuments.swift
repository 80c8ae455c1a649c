/// What `--json` prints of jobs that were waited for, however the waiting has ended: each as the service has it now, else
/// as it was last known.
struct FinalDocuments: Sendable {
    let added: AddedJobs
    let tracker: JobTracker
    /// The command was interrupted, or has no time left.
    let isHasty: Bool

    /// In the order asked for.
    func documents(from service: RemoteService) async -> [JSONText] {
        let end = ContinuousClock.now + (isHasty ? .seconds(2) : .seconds(3600))
        let service = isHasty ? service.limited(to: .seconds(1)) : service
        var (documents, isThere): ([JSONText], Bool) = ([], true)
        for (job, text) in zip(added.jobs, added.documents) {
            var document: JSONText?
            do throws(ClientError) {
                if isThere, .now < end { document = JSONText(try await service.job(job.id).body) }
            } catch {
                // One that was deleted is missing alone; where nobody answers, the others are not asked for.
                isThere = error.status == .missing
            }
            documents.append(document ?? tracker.snapshots[job.id] ?? text)
        }
        return documents
    }
}
