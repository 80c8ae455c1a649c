/// Finished files on their way to here, one after the other. One that cannot be put there does not keep the others from
/// it: it is downloaded all the same, and the way back to it is told.
struct SavedFiles: Sendable {
    let service: RemoteService
    let console: Console
    /// A folder, or the name of the only one.
    let place: String
    let deadline: Deadline

    /// - Returns: the first trouble; the others were told.
    func fetch(_ jobs: [JobDocument]) async -> (any Error)? {
        do {
            let troubles = try await Interruption.cancelling {
                try await deadline.limiting { try await fetchEach(jobs) }
            }
            for trouble in troubles.dropFirst() { console.report(trouble) }
            return troubles.first
        } catch {
            return error
        }
    }

    private func fetchEach(_ jobs: [JobDocument]) async throws -> [ClientError] {
        var troubles: [ClientError] = []
        for job in jobs {
            do {
                let file = try await FileDownload(service, job).save(to: place)
                if let file, !console.isJSON { try console.print(file) }
            } catch let error as ClientError {
                try Task.checkCancellation()
                troubles.append(
                    ClientError(
                        error.status, "The file cannot be saved",
                        "\(error.sentence) It is downloaded; to have it here: fetchd get -o PATH \(job.id)"))
            }
        }
        return troubles
    }
}
