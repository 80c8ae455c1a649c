/// The documents that `--json` prints after waiting, also if the waiting was interrupted: the present document of each job,
/// or its last known one if the service does not return it.
struct FinalDocuments: Sendable {
    let added: AddedJobs
    let tracker: JobTracker
    /// The command was interrupted, or its timeout has passed.
    let isHasty: Bool

    /// - Returns: the documents, in the order of the arguments.
    func documents(from service: RemoteService) async -> [JSONText] {
        let end = ContinuousClock.now + (isHasty ? .seconds(2) : .seconds(3600))
        let service = isHasty ? service.limited(to: .seconds(1)) : service
        var (documents, isThere): ([JSONText], Bool) = ([], true)
        for (job, text) in zip(added.jobs, added.documents) {
            var document: JSONText?
            do throws(ClientError) {
                if isThere, .now < end { document = JSONText(try await service.job(job.id).body) }
            } catch {
                // If only this job is missing (deleted), continue with the others. If the service fails, ask for no more.
                isThere = error.status == .missing
            }
            documents.append(document ?? tracker.snapshots[job.id] ?? text)
        }
        return documents
    }
}
