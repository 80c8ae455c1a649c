import Downloads
import Formats
import Storage

/// Finds jobs, and reads them for the listings.
extension Aria2Service {
    /// - Parameter isPresent: whether the job is read from the database, because the call depends on its present state.
    /// - Throws: aria2's error if no job has this identifier, or if several begin with it.
    func job(_ gid: GIDPrefix, isPresent: Bool = false) async throws -> Job {
        let ids = try await store.jobs(withGID: gid, in: session)
        guard let id = ids.first else { throw RPCError("GID \(gid) is not found") }
        guard ids.count == 1 else { throw RPCError("GID \(gid) is not unique") }
        do throws(StoreError) {
            return try await isPresent ? store.storedJob(id) : store.job(id)
        } catch {
            guard case .noSuchJob = error else { throw error }
            throw RPCError("GID \(gid) is not found")
        }
    }

    /// The jobs that still exist.
    func jobs(_ ids: some Sequence<JobID>) async throws -> [Job] {
        var jobs: [Job] = []
        for id in ids {
            do throws(StoreError) {
                jobs.append(try await store.job(id))
            } catch {
                guard case .noSuchJob = error else { throw error }
            }
        }
        return jobs
    }
}
