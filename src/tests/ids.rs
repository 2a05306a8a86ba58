//! Ids of turns: their order is that of the tree.

use proptest::prelude::*;

use crate::kernel::value::TurnId;

proptest! {
    /// Step by step, a longer number after a shorter one, a turn before those below it.
    #[test]
    fn d_14_turns_stand_in_the_order_in_which_they_were_opened(
        own in "(t|u)(\\.[1-9][0-9]{0,2}){0,3}",
        other in "(t|u)(\\.[1-9][0-9]{0,2}){0,3}",
    ) {
        let steps = |id: &str| id.split('.').map(|step| (step.len(), step.to_owned())).collect::<Vec<_>>();
        let order = TurnId::from(own.clone()).cmp(&TurnId::from(other.clone()));
        prop_assert_eq!(order, steps(&own).cmp(&steps(&other)));
    }
}
