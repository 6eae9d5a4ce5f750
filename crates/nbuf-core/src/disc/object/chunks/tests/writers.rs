//! Several writers of one disc, and a lease that ends.

use std::hash::BuildHasher as _;

use super::super::super::super::done::lock;
use super::super::manifest::Claim;
use super::*;

fn claim(store: &InMemory) -> Claim {
    Claim::parse(&objects(store)["lease"]).unwrap()
}

/// Ends the lease, as time would.
fn end_lease(store: &InMemory) {
    let ended = Claim { until_ms: 1, ..claim(store) };
    put(store, "lease", ended.text().as_bytes());
}

async fn opened(store: &Arc<InMemory>, owner: &str) -> Result<Chunks, ObjectDiscError> {
    let store: Arc<dyn ObjectStore> = store.clone();
    let opening = opening(owner, Some(SIZE as u64), false);
    Chunks::open((store, Key::from("d")), &opening).await
}

#[test]
fn a_second_writer_is_refused_until_the_first_ends() {
    let store = Arc::new(InMemory::new());
    let mut first = open(&store);
    assert_eq!(first.size_bytes(), SIZE as u64);
    write(&mut first, 0, vec![1; 512]).unwrap();
    flush(&mut first).unwrap();
    let refused = || open_as(&store, opening("b", None, false)).err().unwrap();
    let ObjectDiscError::Leased { owner, seconds, .. } = refused() else { panic!("no lease") };
    assert!(owner == "a" && (1..=30).contains(&seconds), "{owner} {seconds}");
    let mut reader = open_as(&store, opening("b", None, true)).unwrap();
    assert!(reader.is_read_only() && !first.is_read_only());
    assert_eq!(read(&mut reader, 510, 4), Ok(vec![1, 1, 0, 0]));
    assert!(write(&mut reader, 0, vec![0; 512]).unwrap_err().contains("read-only"));
    flush(&mut reader).unwrap();
    assert_eq!(claim(&store).generation, 1);
    drop(first);
    assert_eq!(claim(&store).until_ms, 0);
    let second = open_as(&store, opening("b", None, false)).unwrap();
    assert_eq!((claim(&store).generation, claim(&store).owner), (2, "b".to_owned()));
    drop(second);
    // One that only reads detects a change of what it has read.
    put(&store, "00000000", &[2; CHUNK]);
    let said = read(&mut reader, 0, 4).unwrap_err();
    assert!(said.contains("00000000 has changed since nbuf opened it"), "{said}");
}

#[test]
fn a_writer_whose_chunk_another_has_written_stops() {
    let store = Arc::new(InMemory::new());
    let mut first = open(&store);
    write(&mut first, 0, vec![1; 2 * CHUNK]).unwrap();
    flush(&mut first).unwrap();
    end_lease(&store);
    let mut second = open_as(&store, opening("b", None, false)).unwrap();
    assert_eq!(claim(&store).generation, 2);
    write(&mut second, 0, vec![2; 512]).unwrap();
    flush(&mut second).unwrap();
    // Each way to find out ends all writes, not reads.
    write(&mut first, 512, vec![3; 512]).unwrap();
    for _ in 0..2 {
        let said = flush(&mut first).unwrap_err();
        assert!(said.contains("another server has written s3+chunks://b/d/00000000"), "{said}");
    }
    assert!(write(&mut first, CHUNK, vec![3; 512]).unwrap_err().contains("another server"));
    assert!(zero(&mut first, CHUNK, CHUNK).unwrap_err().contains("another server"));
    assert_eq!(read(&mut first, CHUNK, 4), Ok(vec![1; 4]));
    drop(first);
    assert_eq!(claim(&store).owner, "b", "it ends no lease of others");
    write(&mut second, CHUNK, vec![4; 512]).unwrap();
    flush(&mut second).unwrap();
    let objects = objects(&store);
    let chunk = &objects["00000000"];
    assert!(chunk[..512] == [2; 512] && chunk[512..] == [1; CHUNK - 512]);
}

#[test]
fn a_new_chunk_of_another_writer_is_not_overwritten() {
    let store = Arc::new(InMemory::new());
    let mut disc = open(&store);
    write(&mut disc, 0, vec![1; CHUNK]).unwrap();
    put(&store, "00000000", &[2; CHUNK]);
    assert!(flush(&mut disc).unwrap_err().contains("another server has written"));
    assert!(objects(&store)["00000000"] == [2; CHUNK]);
}

#[test]
fn a_put_whose_answer_was_lost_is_no_other_writer() {
    let store = Arc::new(InMemory::new());
    let key = Key::from("d").join("00000000");
    run(async {
        let disc = opened(&store, "a").await.unwrap();
        // What a first try has sent is there.
        disc.write(0, &[1; CHUNK], false).await.unwrap();
        store.put(&key, vec![1_u8; CHUNK].into()).await.unwrap();
        disc.flush().await.unwrap();
        // An older content is there: it was sent, and written over in memory since.
        disc.write(0, &[2; CHUNK], false).await.unwrap();
        let hash = disc.shared.keys.hash_one(&[2_u8; CHUNK][..]);
        lock(&disc.shared.table).held_mut(0).unwrap().sent.push(hash);
        store.put(&key, vec![2_u8; CHUNK].into()).await.unwrap();
        disc.write(512, &[3; 512], false).await.unwrap();
        disc.flush().await.unwrap();
        let bytes = store.get(&key).await.unwrap().bytes().await.unwrap();
        assert!(bytes[..512] == [2; 512] && bytes[512..1024] == [3; 512]);
        assert!(bytes[1024..] == [2; CHUNK - 1024]);
        // So is a chunk that became zeros since, and had no object before.
        let key = Key::from("d").join("00000001");
        let offset = CHUNK as u64;
        disc.write(offset, &[2; CHUNK], false).await.unwrap();
        lock(&disc.shared.table).held_mut(1).unwrap().sent.push(hash);
        store.put(&key, vec![2_u8; CHUNK].into()).await.unwrap();
        disc.discard(offset, offset, (true, false)).await.unwrap();
        disc.flush().await.unwrap();
        assert_eq!(store.get(&key).await.unwrap().bytes().await.unwrap(), ZEROS);
        disc.close().await;
        // So is one that was only listed, whose size has changed.
        let key = Key::from("d").join("00000000");
        let disc = opened(&store, "b").await.unwrap();
        disc.discard(0, offset, (true, false)).await.unwrap();
        let hash = disc.shared.keys.hash_one(ZEROS);
        lock(&disc.shared.table).held_mut(0).unwrap().sent.push(hash);
        store.put(&key, ZEROS.to_vec().into()).await.unwrap();
        disc.flush().await.unwrap();
        assert_eq!(store.get(&key).await.unwrap().bytes().await.unwrap(), ZEROS);
        disc.close().await;
    });
}

#[test]
fn an_expired_lease_stops_writes_until_it_is_renewed() {
    let store = Arc::new(InMemory::new());
    run(async {
        let disc = opened(&store, "a").await.unwrap();
        let (lease, objects) = (disc.shared.lease.as_ref().unwrap(), &disc.shared.objects);
        disc.write(0, &[1; 512], false).await.unwrap();
        lease.expire();
        let said = disc.flush().await.unwrap_err().to_string();
        assert!(said.contains("was not renewed in time (no answer)"), "{said}");
        // It stays owed, and in memory.
        let mut room = [0; 2];
        disc.read(511, &mut room).await.unwrap();
        assert_eq!(room, [1, 0]);
        lease.renew(objects).await.unwrap();
        disc.flush().await.unwrap();
        // A renewal whose answer was lost is ours.
        let key = Key::from("d").join("lease");
        let text = store.get(&key).await.unwrap().bytes().await.unwrap();
        store.put(&key, text.into()).await.unwrap();
        lease.renew(objects).await.unwrap();
        store.delete(&key).await.unwrap();
        let lost = lease.renew(objects).await.unwrap_err().to_string();
        assert!(lost.contains("its object was removed"), "{lost}");
        let other = opened(&store, "b").await.unwrap();
        let lost = lease.renew(objects).await.unwrap_err().to_string();
        assert!(lost.contains("`b` has taken it over"), "{lost}");
        other.close().await;
    });
}

#[test]
fn a_store_that_ignores_conditions_is_refused() {
    let store = Arc::new(InMemory::new());
    run(async {
        let disc = opened(&store, "a").await.unwrap();
        let lease = disc.shared.lease.as_ref().unwrap();
        let manifest = || super::super::manifest::manifest(&disc.shared.layout);
        let objects = &disc.shared.objects;
        lease.check_conditions(objects, manifest().into()).await.unwrap();
        // As if the first of both had gone through.
        store.delete(&Key::from("d").join("manifest")).await.unwrap();
        let refused = lease.check_conditions(objects, manifest().into()).await.unwrap_err();
        assert!(refused.to_string().contains("ignores If-Match or If-None-Match"), "{refused}");
    });
}
